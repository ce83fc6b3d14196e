import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { decideIdentity, decideNeutralSettings } from '../../../src/substrate/git/neutral-settings.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import { git } from '../../support/git.ts';
import { openBench, plant, refusalOf, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

const entries = (set: Readonly<Record<string, string>>) => Object.entries(set).map(([key, value]) => ({ key, value }));

describe('the identity of agents', () => {
  const mine = { name: 'Me', email: 'me@x.invalid' };
  it.each<[string, Record<string, string>, Record<string, string>, typeof mine | undefined]>([
    ['nothing', {}, {}, undefined],
    ['of the configuration', { 'user.name': 'Me', 'user.email': 'me@x.invalid' }, {}, mine],
    [
      'of authors before users',
      { 'user.name': 'U', 'user.email': 'u', 'author.name': 'Me', 'author.email': 'me@x.invalid' },
      {},
      mine,
    ],
    [
      'of the environment first',
      { 'user.name': 'U', 'user.email': 'u' },
      { GIT_AUTHOR_NAME: 'Me', GIT_AUTHOR_EMAIL: 'me@x.invalid' },
      mine,
    ],
    ['an address from EMAIL last', { 'user.name': 'Me' }, { EMAIL: 'me@x.invalid' }, mine],
    ['a name alone', { 'user.name': 'Me' }, {}, undefined],
    ['an empty name', { 'user.name': ' ', 'user.email': 'me@x.invalid' }, {}, undefined],
  ])('%s', (_, set, environment, identity) => {
    expect(decideIdentity(entries(set), environment)).toEqual(identity);
  });

  it('takes the last value of a key', () => {
    const [first, last] = [entries({ 'user.name': 'Old', 'user.email': 'old' }), entries({ 'user.name': 'New' })];
    expect(decideIdentity([...first, ...last], {})).toEqual({ name: 'New', email: 'old' });
  });
});

describe('settings for agents’ git', () => {
  const of = async ({ workspaces }: GitBench) => new Map(await workspaces.agentSettings());
  /** As a user whose own configuration is this, from now on. */
  const withHome = async (bench: GitBench, config: string, environment: Record<string, string> = {}) => {
    writeFileSync(join(bench.root, '.gitconfig'), config);
    const ports = { ...bench.ports, environment: { ...bench.ports.environment, ...environment } };
    return { ...bench, ports, workspaces: createGitWorkspaces(ports, bench.report) };
  };

  it('name the user, or squad where there is none', async () => {
    const bench = await openBench();
    expect((await of(bench)).get('user.name')).toBe('Test');
    for (const key of ['user.name', 'user.email']) git(bench.repository, 'config', '--unset', key);
    expect((await of(bench)).get('user.name')).toBe('squad');
    expect((await of(bench)).get('user.email')).toBe('squad@squad.invalid');
    const other = await withHome(bench, '[user]\n\tname = Global\n\temail = g@x.invalid\n');
    expect((await of(other)).get('user.name')).toBe('Global');
  });

  it('hold what any of the user’s files configures, wherever XDG_CONFIG_HOME points', async () => {
    const bench = await openBench();
    plant(join(bench.root, 'xdg', 'git'), 'unused', join(bench.root, 'mark'));
    writeFileSync(join(bench.root, 'xdg', 'git', 'config'), '[filter "elsewhere"]\n\tclean = x\n');
    const moved = await withHome(bench, '[filter "home"]\n\tsmudge = x\n', {
      XDG_CONFIG_HOME: join(bench.root, 'xdg'),
    });
    const settings = await of(moved);
    expect(settings.get('filter.elsewhere.process')).toBe('');
    expect(settings.get('filter.home.clean')).toBe('');
  });

  it('hold what a file names that is included on a condition, through another one too', async () => {
    const bench = await openBench();
    git(bench.repository, 'config', 'includeIf.onbranch:nowhere.path', '../one');
    writeFileSync(
      join(bench.repository, 'one'),
      '[includeIf "gitdir:/nowhere"]\n\tpath = ~/two\n[filter "one"]\n\tclean = x\n',
    );
    writeFileSync(join(bench.root, 'two'), '[merge "two"]\n\tdriver = x\n[include]\n\tpath = one\n');
    const settings = await of(bench);
    expect(settings.get('filter.one.clean')).toBe('');
    expect(settings.get('merge.two.driver')).toContain('git merge-file');
  });

  it('leave submodules that name no command', async () => {
    const bench = await openBench();
    git(bench.repository, 'config', 'submodule.quiet.update', 'none');
    git(bench.repository, 'config', 'submodule.evil.update', '!x');
    const settings = await of(bench);
    expect([settings.get('submodule.quiet.update'), settings.get('submodule.evil.update')]).toEqual([
      undefined,
      'checkout',
    ]);
  });

  it('leave aliases that are abbreviations, and only those', async () => {
    const bench = await openBench();
    const other = await withHome(
      bench,
      [
        '[alias]',
        ...Array.from({ length: 400 }, (_, index) => `\ta${index} = log`),
        '\tevil = !x',
        '\topt = -c a=b log',
      ].join('\n'),
    );
    const aliases = [...(await of(other)).keys()].filter((key) => key.startsWith('alias.'));
    expect(aliases).toEqual(['alias.evil', 'alias.opt']);
  });

  it.each([
    ['their number', (index: number) => `[filter "f${index}"]\n\tclean = x\n`, 60],
    ['their length', (index: number) => `[filter "f${index}${'x'.repeat(9000)}"]\n\tclean = x\n`, 3],
  ])('are refused before a run where they pass what a process takes, by %s', async (_, filter, count) => {
    const bench = await openBench();
    const config = Array.from({ length: count }, (_none, index) => filter(index)).join('');
    const other = await withHome(bench, config);
    const refusal = await refusalOf(inspectRepository(other.ports, bench.repository));
    expect(refusal).toMatchObject({ code: 'wrong-environment' });
    expect(refusal.message).toMatch(/names \d+ programs/);
    expect(refusal.next).toContain('git config --list --show-origin');
  });

  it.each([
    ['hook.lint.command', [['hook.lint.enabled', 'false']]],
    ['core.gitproxy', [['protocol.git.allow', 'never']]],
    ['remote.o.uploadpack', [['protocol.file.allow', 'never']]],
    ['credential.https://a.b.helper', [['credential.https://a.b.helper', '']]],
    ['gpg.ssh.program', [['gpg.ssh.program', 'ssh-keygen']]],
    ['pager.log', [['pager.log', 'false']]],
    ['submodule.a.update', [['submodule.a.update', 'checkout']]],
    ['user.name', []],
    ['core.bare', []],
    ['diff.algorithm', []],
    ['remote.o.url', []],
  ])('%s', (name, settings) => {
    expect(decideNeutralSettings([name])).toEqual(settings);
  });
});

describe('what is said of commits before a run', () => {
  const about = async (bench: GitBench) =>
    (await inspectRepository(bench.ports, bench.repository)).warnings.filter(({ about: what }) =>
      ['identity', 'signing', 'hooks'].includes(what),
    );

  it('is nothing where the user’s own commits are like those of agents', async () => {
    const bench = await openBench();
    plant(join(bench.repository, '.git', 'hooks'), 'pre-commit.sample', join(bench.root, 'mark'));
    writeFileSync(join(bench.repository, '.git', 'hooks', 'commit-msg'), 'not executable');
    git(bench.repository, 'config', 'commit.gpgSign', 'false');
    expect(await about(bench)).toEqual([]);
  });

  it.each(['true', 'yes', '1'])('names the identity, signatures (%s) and hooks that they go without', async (yes) => {
    const bench = await openBench();
    for (const key of ['user.name', 'user.email']) git(bench.repository, 'config', '--unset', key);
    git(bench.repository, 'config', 'commit.gpgSign', yes);
    plant(join(bench.repository, '.git', 'hooks'), 'pre-commit', join(bench.root, 'mark'));
    plant(join(bench.repository, '.git', 'hooks'), 'commit-msg', join(bench.root, 'mark'));
    const [identity, signing, hooks] = await about(bench);
    expect(identity?.text).toBe(
      'git has no name and e-mail address for you: agents commit as squad <squad@squad.invalid>',
    );
    expect(signing?.text).toContain('commits by agents and squad are not signed');
    expect(hooks?.text).toBe(
      `no hook runs for agents or squad; ${join(bench.repository, '.git', 'hooks')} has commit-msg, pre-commit`,
    );
    expect(hooks?.next).toContain('`verify`');
  });

  it.each([
    ['.husky', (bench: GitBench) => join(bench.repository, '.husky')],
    ['~/hooks', (bench: GitBench) => join(bench.root, 'hooks')],
  ])('finds hooks in core.hooksPath = %s', async (configured, folder) => {
    const bench = await openBench();
    plant(folder(bench), 'pre-push', join(bench.root, 'mark'));
    git(bench.repository, 'config', 'core.hooksPath', configured);
    const [hooks] = await about(bench);
    expect(hooks?.text).toContain(`${folder(bench)} has pre-push`);
  });
});
