import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { decideIdentity } from '../../../src/substrate/git/user-configuration.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import { git } from '../../support/git.ts';
import { openBench, plant, removeFolders, type GitBench } from './bench.ts';

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
    const nobody = await of(await withHome(bench, ''));
    expect([nobody.get('user.name'), nobody.get('user.email')]).toEqual(['squad', 'squad@squad.invalid']);
    const other = await withHome(bench, '[user]\n\tname = Global\n\temail = g@x.invalid\n');
    expect((await of(other)).get('user.name')).toBe('Global');
  });

  it('name the user of GIT_CONFIG_GLOBAL, and no program of any file', async () => {
    const bench = await openBench();
    for (const key of ['user.name', 'user.email']) git(bench.repository, 'config', '--unset', key);
    git(bench.repository, 'config', 'filter.local.clean', 'x');
    const file = join(bench.root, 'mine');
    writeFileSync(file, '[user]\n\tname = Moved\n\temail = m@x.invalid\n[alias]\n\tst = !x\n');
    const moved = await withHome(bench, '[filter "home"]\n\tsmudge = x\n', { GIT_CONFIG_GLOBAL: file });
    expect(await moved.workspaces.agentSettings()).toEqual([
      ['core.hooksPath', '/dev/null'],
      ['core.fsmonitor', 'false'],
      ['gc.auto', '0'],
      ['maintenance.auto', 'false'],
      ['core.fsync', 'committed,reference'],
      ['core.fsyncMethod', 'batch'],
      ['user.name', 'Moved'],
      ['user.email', 'm@x.invalid'],
    ]);
  });
});

describe('the filters of the user', () => {
  it('run nowhere while changes are listed, whichever file of the user names them', async () => {
    const bench = await openBench({
      '.gitattributes': '* filter=local\n*.h filter=home\n',
      'a.txt': 'a\n',
      'a.h': 'h\n',
    });
    const filter = (name: string) =>
      `[filter "${name}"]\n\tclean = ${plant(bench.root, name, join(bench.root, 'mark'))}\n`;
    writeFileSync(join(bench.repository, '.git', 'config'), filter('local'), { flag: 'a' });
    const file = join(bench.root, 'mine');
    writeFileSync(file, filter('home'));
    // Of the same size, or git need not read them to see a change.
    for (const name of ['a.txt', 'a.h']) writeFileSync(join(bench.repository, name), 'b\n');
    const ports = { ...bench.ports, environment: { ...bench.ports.environment, GIT_CONFIG_GLOBAL: file } };
    const { warnings } = await inspectRepository(ports, bench.repository);
    expect(warnings.map(({ about }) => about)).toContain('tracked-changes');
    expect(readdirSync(bench.root).filter((name) => name.startsWith('mark'))).toEqual([]);
    // Without this the test could not fail.
    git(bench.repository, 'status');
    expect(readdirSync(bench.root).filter((name) => name.startsWith('mark'))).toEqual(['mark-local']);
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
