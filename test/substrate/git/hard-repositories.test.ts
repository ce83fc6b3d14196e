// @module-tag all
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { cleanRun } from '../../../src/cli/clean-run.ts';
import { createRepository, git } from '../../support/git.ts';
import {
  benchOver,
  findFaults,
  fingerprint,
  refusalOf,
  removeFolders,
  temporaryFolder,
  type GitBench,
} from './bench.ts';
import { playRun } from './engine-child.ts';
import { some, SPREAD } from '../../support/lane.ts';

afterEach(removeFolders);

/** Makes a repository below a folder, and returns the checkout in which squad is run. */
type Make = (root: string) => string;

function plain(root: string, files: Readonly<Record<string, string>> = {}): string {
  return createRepository(join(root, 'repository'), files);
}

const ODD = [
  'with space',
  ' leading and trailing ',
  'Zwölf 日本 👍',
  'two\nlines',
  '-leading-dash',
  '--option=x',
  ':(glob)*',
  'quote"\'s',
  'back\\slash',
  '[a]*?',
  `${'long'.repeat(62)}.txt`,
  `${'deep/'.repeat(40)}file`,
];

/** Local paths as submodules are refused by default since CVE-2022-39253. */
const LOCAL = ['-c', 'protocol.file.allow=always'];

function withSubmodules(root: string): string {
  const inner = createRepository(join(root, 'inner'), { 'inner.txt': 'inner\n' });
  const outer = createRepository(join(root, 'outer'), { 'outer.txt': 'outer\n' });
  git(outer, ...LOCAL, 'submodule', 'add', '-q', inner, 'nested');
  git(outer, 'commit', '-q', '-m', 'nested');
  const repository = plain(root);
  for (const name of ['initialised', 'dirty', 'empty']) {
    git(repository, ...LOCAL, 'submodule', 'add', '-q', outer, `vendor/${name}`);
  }
  git(repository, 'commit', '-q', '-m', 'submodules');
  git(repository, ...LOCAL, 'submodule', 'update', '-q', '--init', '--recursive', 'vendor/initialised', 'vendor/dirty');
  git(repository, 'submodule', 'deinit', '-q', '-f', 'vendor/empty');
  writeFileSync(join(repository, 'vendor/dirty/outer.txt'), 'changed\n');
  git(join(repository, 'vendor/dirty/nested'), 'commit', '-q', '--allow-empty', '-m', 'mine alone');
  return repository;
}

function dirty(root: string): string {
  const repository = plain(root, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', '.gitignore': 'built\n' });
  writeFileSync(join(repository, 'a.txt'), 'stashed\n');
  git(repository, 'stash', 'push', '-q', '-m', 'mine');
  writeFileSync(join(repository, 'a.txt'), 'staged\n');
  git(repository, 'add', 'a.txt');
  writeFileSync(join(repository, 'a.txt'), 'changed again\n');
  rmSync(join(repository, 'b.txt'));
  writeFileSync(join(repository, 'untracked.txt'), 'x\n');
  writeFileSync(join(repository, 'built'), 'x\n');
  return repository;
}

/** In the middle of a merge that conflicts: an index with stages, MERGE_HEAD, markers. */
function merging(root: string): string {
  const repository = plain(root, { 'a.txt': 'a\n' });
  git(repository, 'checkout', '-q', '-b', 'theirs');
  writeFileSync(join(repository, 'a.txt'), 'theirs\n');
  git(repository, 'commit', '-q', '-a', '-m', 'theirs');
  git(repository, 'checkout', '-q', 'main');
  writeFileSync(join(repository, 'a.txt'), 'ours\n');
  git(repository, 'commit', '-q', '-a', '-m', 'ours');
  expect(() => git(repository, 'merge', '-q', 'theirs')).toThrow(/./);
  return repository;
}

const SHAPES: readonly (readonly [string, Make])[] = [
  ['a dirty tree with staged, changed, deleted, untracked and stashed files', dirty],
  ['a merge in its middle, with conflicts', merging],
  ['detached HEAD', (root) => (git(plain(root), 'checkout', '-q', '--detach'), join(root, 'repository'))],
  ['odd paths', (root) => plain(root, Object.fromEntries(ODD.map((path) => [path, `${path}\n`])))],
  ['a repository at an odd path', (root) => createRepository(join(root, `-it's a "Zwölf" 日本 $(x)`))],
  [
    'a shallow clone',
    (root) => {
      const origin = createRepository(join(root, 'origin'));
      git(origin, 'commit', '-q', '--allow-empty', '-m', 'second');
      git(root, 'clone', '-q', '--depth=1', `file://${origin}`, 'clone');
      return join(root, 'clone');
    },
  ],
  [
    'a clone that borrows objects of another one, which borrows too',
    (root) => {
      git(root, 'clone', '-q', '--shared', plain(root), 'first');
      git(root, 'clone', '-q', '--shared', join(root, 'first'), 'second');
      return join(root, 'second');
    },
  ],
  [
    'ids of SHA-256',
    (root) => {
      const repository = join(root, 'repository');
      git(root, 'init', '-q', '-b', 'main', '--object-format=sha256', 'repository');
      writeFileSync(join(repository, 'readme.md'), '# fixture\n');
      git(repository, 'add', '-A');
      git(repository, 'commit', '-q', '-m', 'base');
      return repository;
    },
  ],
  ['submodules: initialised, nested, dirty and empty', withSubmodules],
  [
    'pointers of a large file filter that is not installed',
    (root) => {
      const repository = plain(root, { '.gitattributes': '*.bin filter=lfs -text\n', 'a.bin': 'version https://x\n' });
      for (const part of ['clean', 'smudge']) git(repository, 'config', `filter.lfs.${part}`, `no-lfs ${part} -- %f`);
      return repository;
    },
  ],
  [
    'a linked worktree of a bare repository',
    (root) => {
      git(root, 'clone', '-q', '--bare', plain(root), 'bare.git');
      git(join(root, 'bare.git'), 'worktree', 'add', '-q', join(root, 'linked'), 'main');
      return join(root, 'linked');
    },
  ],
  [
    'a repository inside a folder of another one',
    (root) => {
      git(plain(root), 'worktree', 'add', '-q', '-b', 'topic', join(root, 'linked'));
      return createRepository(join(root, 'linked', 'inside'), { 'a.txt': 'a\n' });
    },
  ],
  [
    'a sparse checkout with settings of its own for each worktree',
    (root) => {
      const repository = plain(root, { 'in/a.txt': 'a\n', 'out/b.txt': 'b\n' });
      git(repository, 'sparse-checkout', 'set', 'in');
      return repository;
    },
  ],
  [
    'line ends that git changes',
    (root) => {
      const repository = plain(root, { '.gitattributes': '*.bat eol=crlf\n', 'a.txt': 'a\n', 'b.bat': 'b\n' });
      git(repository, 'config', 'core.autocrlf', 'true');
      writeFileSync(join(repository, 'mixed.txt'), 'one\r\ntwo\n');
      git(repository, '-c', 'core.safecrlf=false', 'add', 'mixed.txt');
      return repository;
    },
  ],
  [
    'file modes, links, and names that differ by case',
    (root) => {
      const repository = plain(root, { run: '#!/bin/sh\n', 'Name.txt': 'upper\n', 'name.txt': 'lower\n' });
      chmodSync(join(repository, 'run'), 0o755);
      for (const [path, to] of Object.entries({ link: 'run', gone: 'nowhere', up: '..' })) {
        symlinkSync(to, join(repository, path));
      }
      git(repository, 'add', '-A');
      git(repository, 'commit', '-q', '-m', 'modes');
      return repository;
    },
  ],
  [
    'modes that git is told to overlook, and a file system that is said to ignore case',
    (root) => {
      const repository = plain(root, { run: '#!/bin/sh\n' });
      git(repository, 'config', 'core.fileMode', 'false');
      git(repository, 'config', 'core.ignoreCase', 'true');
      chmodSync(join(repository, 'run'), 0o755);
      return repository;
    },
  ],
  [
    'locks of its own, that another git holds or left',
    (root) => {
      const repository = plain(root);
      for (const name of ['config.lock', 'index.lock', 'HEAD.lock', 'refs/heads/main.lock']) {
        writeFileSync(join(repository, '.git', name), '');
      }
      return repository;
    },
  ],
  [
    'refs that are all packed, and worktrees of its own, one of them gone and one locked',
    (root) => {
      const repository = plain(root);
      for (const name of ['gone', 'locked']) git(repository, 'worktree', 'add', '-q', '--detach', join(root, name));
      git(repository, 'worktree', 'lock', join(root, 'locked'));
      rmSync(join(root, 'gone'), { recursive: true });
      git(repository, 'pack-refs', '--all');
      return repository;
    },
  ],
];

describe('T17 a whole run in a hard repository, and what it leaves', () => {
  it.each(some(SHAPES, 0, 5))('%s: nothing of the user’s is touched, and nothing stays', SPREAD, async (_, make) => {
    const root = temporaryFolder();
    const repository = make(root);
    const before = fingerprint(repository);
    const faults = faultsOf(repository);
    const bench = await benchOver(root, repository);
    await playRun(bench);
    expect(git(repository, 'show', 'squad/run:draft.txt')).toBe('draft');
    expect(fingerprint(repository)).toEqual(before);
    await expectCleaned(bench);
    expect(fingerprint(repository)).toEqual(before);
    expect(faultsOf(repository)).toEqual(faults);
  });
});

/** The run branch goes once somebody has its work; here that is a ref for as long as it takes. */
async function expectCleaned({ workspaces, repository, root }: GitBench): Promise<void> {
  const clean = async () =>
    cleanRun(workspaces, root, { run: 'run', id: 'run', attempts: [] }, { dryRun: false, turns: false, refs: true });
  expect((await clean()).refs).toMatchObject({ attempts: 2, branch: { type: 'kept', why: 'unmerged' } });
  git(repository, 'update-ref', 'refs/remotes/origin/merged', 'refs/heads/squad/run');
  expect((await clean()).refs).toMatchObject({ attempts: 0, branch: { type: 'deleted' } });
  git(repository, 'update-ref', '-d', 'refs/remotes/origin/merged');
}

function faultsOf(repository: string): readonly string[] {
  // What its owner's own worktrees are like is compared, not judged.
  return [...findFaults({ repository }), git(repository, 'worktree', 'list', '--porcelain')];
}

describe('T17 work of an agent that is hard to keep', () => {
  it('odd names, modes, links, and a name that changes in case alone come through rescue and integration', async () => {
    const root = temporaryFolder();
    const bench = await benchOver(root, plain(root, { 'Name.txt': 'a\n', run: 'x\n' }));
    const { workspaces, report, repository } = bench;
    const before = fingerprint(repository);
    const folder = await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    const { path } = folder.workspace;
    for (const name of ODD) {
      mkdirSync(join(path, name, '..'), { recursive: true });
      writeFileSync(join(path, name), `${name}\n`);
    }
    // Names are bytes: this one is no UTF-8.
    writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff, 0xfe])]), 'bytes\n');
    renameSync(join(path, 'Name.txt'), join(path, 'name.txt'));
    chmodSync(join(path, 'run'), 0o755);
    symlinkSync('run', join(path, 'link'));
    const kept = await workspaces.rescue(folder, 'task-1');
    if (kept.type !== 'kept') throw new Error(JSON.stringify(kept));
    await workspaces.createRunBranch('run', report.head);
    const answer = await workspaces.integrate({ run: 'run', commit: kept.commit, message: 'm' });
    expect(answer).toMatchObject({ type: 'candidate', commit: kept.commit });
    const { workspace } = await workspaces.integrationAt('run', kept.commit);
    // The same bytes under the same names: nothing was lost on the way through git.
    git(path, 'add', '-A');
    expect(git(workspace.path, 'ls-files', '-s', '-z')).toBe(git(path, 'ls-files', '-s', '-z'));
    expect(git(workspace.path, 'ls-files', '-s', 'run', 'link')).toMatch(/^120000 .*\tlink\n100755 .*\trun$/);
    for (const name of ODD) expect(readFileSync(join(workspace.path, name), 'utf8')).toBe(`${name}\n`);
    expect(git(workspace.path, 'status', '--porcelain')).toBe('');
    expect((await workspaces.changedFiles(report.head, kept.commit)).length).toBe(ODD.length + 5);
    expect(await workspaces.removeFolder(folder, 'task-1')).toMatchObject({ type: 'removed' });
    await workspaces.closeRun('run');
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });

  it.each<[string, (bench: GitBench, path: string) => void]>([
    ['deleted', (_, path) => rmSync(path, { recursive: true })],
    ['moved away', ({ root }, path) => renameSync(path, join(root, 'elsewhere'))],
  ])('a folder that somebody has %s under us is made anew, and goes without a trace', async (_, spoil) => {
    const root = temporaryFolder();
    const bench = await benchOver(root, plain(root));
    const { workspaces, report, repository } = bench;
    const before = fingerprint(repository);
    const place = { run: 'run', task: 'task', commit: report.head };
    const { path } = (await workspaces.addFolder(place)).workspace;
    spoil(bench, path);
    const again = await workspaces.addFolder(place);
    expect(git(path, 'status', '--porcelain')).toBe('');
    writeFileSync(join(path, 'draft.txt'), 'draft\n');
    expect(await workspaces.removeFolder(again, 'task-1')).toMatchObject({ type: 'removed', rescued: true });
    const gone = await workspaces.addFolder(place);
    spoil({ ...bench, root: temporaryFolder() }, path);
    expect(await workspaces.removeFolder(gone, 'task-2')).toEqual({ type: 'removed', rescued: false });
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });
});

describe('T17 repositories that are refused', () => {
  it.each<[string, Make, RegExp]>([
    ['a branch named squad', (root) => (git(plain(root), 'branch', 'squad'), join(root, 'repository')), /branch -m/],
    ['no commit', (root) => (git(root, 'init', '-q', 'unborn'), join(root, 'unborn')), /commit -m/],
    [
      'no checkout',
      (root) => (git(root, 'clone', '-q', '--bare', plain(root), 'bare'), join(root, 'bare')),
      /git clone/,
    ],
    [
      'objects that a remote has promised',
      (root) => {
        const origin = plain(root);
        git(origin, 'config', 'uploadpack.allowFilter', 'true');
        git(root, 'clone', '-q', '--filter=blob:none', `file://${origin}`, 'partial');
        return join(root, 'partial');
      },
      /without `--filter`/,
    ],
  ])('%s: exit 78, and what to do', async (_, make, next) => {
    const root = temporaryFolder();
    const repository = make(root);
    const refused = await refusalOf(benchOver(root, repository));
    expect(refused.exitCode).toBe(78);
    expect(refused.next).toMatch(next);
  });
});
