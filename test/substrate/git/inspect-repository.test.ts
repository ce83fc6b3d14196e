import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { decideVersionWarning, isTooOld, parseGitVersion } from '../../../src/substrate/git/git-version.ts';
import { inspectRepository } from '../../../src/substrate/git/inspect-repository.ts';
import type { RepositoryReport } from '../../../src/substrate/ports/workspaces.ts';
import {
  benchOver,
  findFaults,
  fingerprint,
  openBench,
  portsIn,
  refusalOf,
  removeFolders,
  temporaryFolder,
} from './bench.ts';
import { createRepository, git } from '../../support/git.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

const plain = (root: string, files: Readonly<Record<string, string>> = {}): string =>
  createRepository(join(root, 'repository'), files);

describe('kinds of repositories that work', () => {
  const about = (report: RepositoryReport) =>
    report.warnings.map((warning) => warning.about).filter((name) => name !== 'git-version');

  it.each<[string, (root: string) => string, Partial<RepositoryReport>, readonly string[]]>([
    ['plain', (root) => plain(root), { branch: 'main', sparse: false }, []],
    [
      'detached HEAD',
      (root) => (git(plain(root), 'checkout', '-q', '--detach'), join(root, 'repository')),
      { branch: undefined },
      ['detached'],
    ],
    [
      'a linked worktree as the checkout',
      (root) => (git(plain(root), 'worktree', 'add', '-q', '-b', 'topic', join(root, 'linked')), join(root, 'linked')),
      { branch: 'topic' },
      [],
    ],
    [
      'shallow',
      (root) => {
        const origin = plain(root);
        git(origin, 'commit', '-q', '--allow-empty', '-m', 'second');
        git(root, 'clone', '-q', '--depth=1', `file://${origin}`, 'clone');
        return join(root, 'clone');
      },
      {},
      ['identity', 'shallow'],
    ],
    [
      'lfs without its binary',
      (root) => {
        const repository = plain(root, {
          '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
          'a.bin': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n',
        });
        for (const part of ['clean', 'smudge'])
          git(repository, 'config', `filter.lfs.${part}`, `git-lfs ${part} -- %f`);
        git(repository, 'config', 'filter.lfs.process', 'git-lfs filter-process');
        git(repository, 'config', 'filter.lfs.required', 'true');
        return repository;
      },
      {},
      ['filters'],
    ],
    ['spaces', (root) => createRepository(join(root, 'a  b')), {}, []],
    ['UTF-8', (root) => createRepository(join(root, 'Zwölf 日本')), {}, []],
    ['a leading dash', (root) => createRepository(join(root, '-rf')), {}, []],
    ['a colon and a quote', (root) => createRepository(join(root, `a:b"c'd`)), {}, []],
    [
      'changes that are not committed',
      (root) => {
        const repository = plain(root, { 'a.txt': 'a\n', 'b c.txt': 'b\n' });
        writeFileSync(join(repository, 'a.txt'), 'changed\n');
        rmSync(join(repository, 'b c.txt'));
        return repository;
      },
      {},
      ['tracked-changes'],
    ],
    [
      'files that git does not know',
      (root) => (writeFileSync(join(plain(root), 'untracked.txt'), 'x\n'), join(root, 'repository')),
      {},
      [],
    ],
  ])('%s', ALL, async (_, make, facts, warnings) => {
    const root = temporaryFolder();
    const repository = make(root);
    const before = fingerprint(repository);
    const bench = await benchOver(root, repository);
    expect(bench.report).toMatchObject({ root: repository, ...facts });
    expect(about(bench.report)).toEqual(warnings);
    const { workspaces, report } = bench;
    const folder = await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    expect(await workspaces.snapshot(folder)).toMatchObject({ clean: true });
    // Through the ledger's way: an agent's commit, without filters that are not installed.
    writeFileSync(join(folder.workspace.path, 'made.txt'), 'made\n');
    const kept = await workspaces.rescue(folder, 'task-1');
    if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
    await workspaces.createRunBranch('run', report.head);
    const answer = await workspaces.integrate({ run: 'run', commit: kept.commit, message: 'm' });
    if (answer.type !== 'candidate') throw new Error(JSON.stringify(answer));
    expect(await workspaces.advance('run', answer.onto, answer.commit)).toEqual({ type: 'advanced' });
    expect(await workspaces.changedFiles(report.head, answer.commit)).toEqual([{ path: 'made.txt', status: 'added' }]);
    expect(await workspaces.removeFolder(folder, 'task-1')).toMatchObject({ type: 'removed', rescued: true });
    await workspaces.closeRun('run');
    expect(fingerprint(repository)).toEqual(before);
    expect(git(repository, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('sparse: worktrees have the same patterns, and work outside of them is kept', ALL, async () => {
    const root = temporaryFolder();
    const repository = plain(root, { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' });
    git(repository, 'sparse-checkout', 'set', 'in');
    const before = fingerprint(repository);
    const bench = await benchOver(root, repository);
    expect(bench.report.sparse).toBe(true);
    const folder = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    expect(existsSync(join(folder.workspace.path, 'in/a.txt'))).toBe(true);
    expect(existsSync(join(folder.workspace.path, 'out/b.txt'))).toBe(false);
    expect(await bench.workspaces.snapshot(folder)).toMatchObject({ clean: true });
    mkdirSync(join(folder.workspace.path, 'out'));
    writeFileSync(join(folder.workspace.path, 'out/new.txt'), 'new\n');
    const kept = await bench.workspaces.rescue(folder, 'task-1');
    if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
    expect(await bench.workspaces.changedFiles(bench.report.head, kept.commit)).toEqual([
      { path: 'out/new.txt', status: 'added' },
    ]);
    expect(await bench.workspaces.removeFolder(folder, 'task-1')).toMatchObject({ type: 'removed' });
    expect(fingerprint(repository)).toEqual(before);
  });

  it('submodules: a folder goes when they are as their remote has them, and stays when not', ALL, async () => {
    const root = temporaryFolder();
    const library = createRepository(join(root, 'library'), { 'lib.txt': 'lib\n' });
    const repository = plain(root);
    git(repository, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'vendor/lib');
    git(repository, 'commit', '-q', '-m', 'library');
    const before = fingerprint(repository);
    const bench = await benchOver(root, repository);
    expect(bench.report.warnings.find(({ about }) => about === 'submodules')?.text).toContain('vendor/lib');
    const place = { run: 'run', task: 'task', commit: bench.report.head };
    const folder = await bench.workspaces.addFolder(place);
    const { path } = folder.workspace;
    git(path, '-c', 'protocol.file.allow=always', 'submodule', 'update', '-q', '--init');
    const mark = join(root, 'mark');
    git(join(path, 'vendor/lib'), 'config', 'core.fsmonitor', `touch ${mark}`);
    writeFileSync(join(path, 'vendor/lib/lib.txt'), 'changed\n');
    const refused = { type: 'refused', reason: 'repositories', detail: ['vendor/lib'] };
    expect(await bench.workspaces.removeFolder(folder, 'task-1')).toEqual(refused);
    rmSync(mark, { force: true });
    git(join(path, 'vendor/lib'), '-c', 'core.fsmonitor=false', 'checkout', '-q', 'lib.txt');
    git(join(path, 'vendor/lib'), '-c', 'core.fsmonitor=false', 'branch', 'mine');
    git(join(path, 'vendor/lib'), '-c', 'core.fsmonitor=false', 'commit', '-q', '--allow-empty', '-m', 'mine');
    expect(await bench.workspaces.removeFolder(folder, 'task-1')).toEqual(refused);
    git(join(path, 'vendor/lib'), '-c', 'core.fsmonitor=false', 'checkout', '-q', '--detach', 'origin/main');
    expect(await bench.workspaces.removeFolder(folder, 'task-1')).toEqual({ type: 'removed', rescued: false });
    expect(existsSync(mark)).toBe(false);
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });
});

describe('what is refused, each with the next command', () => {
  it.each<[string, (root: string) => string, RegExp, RegExp]>([
    ['no commit yet', (root) => (git(root, 'init', '-q', 'x'), join(root, 'x')), /no commit/, /commit -m/],
    ['bare', (root) => (git(root, 'init', '-q', '--bare', 'x'), join(root, 'x')), /bare/, /git clone/],
    ['a git directory', (root) => join(plain(root), '.git'), /inside a git directory/, /checkout/],
    ['no repository', (root) => (mkdirSync(join(root, 'x')), join(root, 'x')), /not in a git checkout/, /git init/],
    ['a folder that is not there', (root) => join(root, 'gone'), /gone is gone/, /with `cd`/],
    ['a line break in its path', (root) => createRepository(join(root, 'a\nb')), /line break/, /Move/],
    [
      'a branch named squad',
      (root) => (git(plain(root), 'branch', 'squad'), join(root, 'repository')),
      /squad\/<run>/,
      /git branch -m squad/,
    ],
  ])('%s', async (_, make, message, next) => {
    const root = temporaryFolder();
    const refused = await refusalOf(inspectRepository(portsIn(root), make(root)));
    expect(refused.exitCode).toBe(78);
    expect(refused.message).toMatch(message);
    expect(refused.next).toMatch(next);
  });
});

describe('what it says', () => {
  it('names the commit that agents start from, and the files that they will not see', async () => {
    const bench = await openBench({ 'a.txt': 'a\n' }, (repository) =>
      writeFileSync(join(repository, 'a.txt'), 'changed\n'),
    );
    const warning = bench.report.warnings.find((item) => item.about === 'tracked-changes');
    expect(warning?.text).toContain(bench.report.head.slice(0, 12));
    expect(warning?.text).toContain('a.txt');
  });

  it('runs nothing that the repository names', async () => {
    const root = temporaryFolder();
    const mark = join(root, 'mark');
    const repository = plain(root, { '.gitattributes': '* filter=evil diff=evil\n' });
    for (const key of ['core.fsmonitor', 'filter.evil.clean', 'diff.evil.textconv', 'diff.external', 'core.pager']) {
      git(repository, 'config', key, `touch ${mark};`);
    }
    writeFileSync(join(repository, 'readme.md'), 'changed\n');
    const { warnings } = await inspectRepository(portsIn(root), repository);
    expect(warnings.find(({ about }) => about === 'filters')?.text).toContain('files of evil are');
    expect(existsSync(mark)).toBe(false);
  });

  it('calls a branch by its name, whatever else has that name, and names the runs that have one', async () => {
    const root = temporaryFolder();
    const repository = plain(root);
    for (const name of ['squad/one', 'squad/two', 'squadron']) git(repository, 'branch', name);
    git(repository, 'tag', 'main');
    expect(await inspectRepository(portsIn(root), repository)).toMatchObject({
      branch: 'main',
      runBranches: ['one', 'two'],
    });
  });

  it('reads the configuration of the checkout itself, not of the repository that it belongs to', async () => {
    const root = temporaryFolder();
    const repository = plain(root, { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' });
    const linked = join(root, 'linked');
    git(repository, 'worktree', 'add', '-q', '-b', 'topic', linked);
    git(linked, 'sparse-checkout', 'set', 'in');
    git(linked, 'config', '--worktree', 'commit.gpgSign', 'true');
    const about = async (path: string) =>
      (await inspectRepository(portsIn(root), path)).warnings.map((warning) => warning.about);
    expect(await about(linked)).toEqual(expect.arrayContaining(['signing', 'sparse']));
    expect(await about(repository)).toEqual(expect.not.arrayContaining(['signing', 'sparse']));
  });

  it('knows which git is too old, and which may be unsafe', () => {
    expect(parseGitVersion('2.39.5 (Apple Git-154)')).toEqual([2, 39, 5]);
    expect(parseGitVersion('2.50.1.windows.1')).toEqual([2, 50, 1]);
    expect(parseGitVersion('3.0')).toEqual([3, 0, 0]);
    expect(parseGitVersion('nonsense')).toBeUndefined();
    expect(['2.37.9', '2.38.0', '3.0', ''].map((text) => isTooOld(parseGitVersion(text)))).toEqual([
      ...[true, false, false, true],
    ]);
    const unsafe = ['2.39.5', '2.43.6', '2.45.0', '2.50.0'].map((text) => decideVersionWarning(text)?.next);
    expect(unsafe).toEqual(['2.43.7', '2.43.7', '2.45.4', '2.50.1'].map((safe) => `Update git to ${safe} or newer.`));
    for (const safe of ['2.43.7', '2.45.4', '2.50.1', '2.51.0', '3.0'])
      expect(decideVersionWarning(safe)).toBeUndefined();
  });
});
