// @module-tag all
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { git } from '../../support/git.ts';
import { some, SPREAD } from '../../support/lane.ts';
import {
  benchOver,
  commitIn,
  keptRefs,
  findFaults,
  fingerprint,
  openBench,
  removeFolders,
  type GitBench,
} from './bench.ts';
import { RESET_CHILD } from './reset-child.ts';

afterEach(removeFolders);

const IGNORED = { '.gitignore': 'built\n', 'a.txt': 'a\n' };

/** A worktree with a commit, a draft, a changed file and an output of a build. */
async function openUsed(): Promise<GitBench & { worktree: TaskFolder; path: string; work: string; commit: string }> {
  const bench = await openBench(IGNORED);
  const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
  const { path } = worktree.workspace;
  const work = commitIn(worktree, { 'work.txt': 'work\n' });
  writeFileSync(join(path, 'a.txt'), 'changed\n');
  writeFileSync(join(path, 'draft.txt'), 'draft\n');
  mkdirSync(join(path, 'built', 'deep'), { recursive: true });
  writeFileSync(join(path, 'built', 'deep', 'x.o'), 'x');
  return { ...bench, worktree, path, work, commit: bench.report.head };
}

describe('resetFolder', () => {
  it('keeps everything but ignored files, and leaves the path as if it were new', async () => {
    const { workspaces, repository, worktree, path, work, commit } = await openUsed();
    const before = fingerprint(repository);
    // Whatever git itself was in the middle of goes too.
    git(path, 'update-index', '--assume-unchanged', 'a.txt');
    writeFileSync(join(path, '.git/MERGE_HEAD'), `${commit}\n`);
    symlinkSync('/', join(path, 'root'));
    chmodSync(join(path, 'built', 'deep'), 0o500);
    const order = { commit, attempt: 'task-2', rescueAs: 'task-1-left' };
    const answer = await workspaces.resetFolder(worktree, order);
    expect(answer).toMatchObject({ type: 'ready', rescued: 'refs/squad/run/task-1-left' });
    if (answer.type !== 'ready') throw new Error(answer.type);
    expect(answer.folder).toEqual({ ...worktree, base: commit, resetFor: 'task-2' });
    expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(git(path, 'status', '--porcelain', '--ignored')).toBe('');
    expect(existsSync(join(path, '.git/MERGE_HEAD'))).toBe(false);
    expect(git(repository, 'rev-parse', 'refs/squad/run/task-1-left^')).toBe(work);
    expect(git(repository, 'ls-tree', '--name-only', 'refs/squad/run/task-1-left')).toBe(
      '.gitignore\na.txt\ndraft.txt\nreadme.md\nroot\nwork.txt',
    );
    expect(git(repository, 'show', 'refs/squad/run/task-1-left:a.txt')).toBe('changed');
    expect(await workspaces.resetFolder(answer.folder, order)).toEqual({
      type: 'ready',
      folder: { ...answer.folder, fresh: undefined },
    });
    expect(await workspaces.addFolder({ run: 'run', task: 'task', commit })).toEqual({
      ...answer.folder,
      fresh: undefined,
    });
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults({ repository })).toEqual([]);
  });

  it('never moves a ref that holds something else, and needs none for what is delivered', async () => {
    const { workspaces, repository, worktree, path, work, commit } = await openUsed();
    const reset = async (number: number, to: string) =>
      workspaces.resetFolder(worktree, { commit: to, attempt: `task-${number}`, rescueAs: 'kept' });
    await workspaces.keepAttempt('run', 'kept', commit);
    expect(await reset(2, commit)).toMatchObject({ rescued: 'refs/squad/run/kept-2' });
    git(path, 'checkout', '-q', work);
    expect(await reset(3, commit)).toMatchObject({ rescued: 'refs/squad/run/kept-2' });
    // Delivered with the commit it goes to.
    git(path, 'checkout', '-q', work);
    const delivered = await reset(4, work);
    expect(delivered).not.toHaveProperty('rescued');
    expect(git(path, 'rev-parse', 'HEAD')).toBe(work);
    const later = commitIn(worktree, { 'later.txt': 'later\n' });
    expect(await reset(5, commit)).toMatchObject({ rescued: 'refs/squad/run/kept-3' });
    // Somebody deleted the folder: there is nothing to keep.
    rmSync(path, { recursive: true });
    expect(await reset(6, commit)).not.toHaveProperty('rescued');
    expect(git(repository, 'rev-parse', 'refs/squad/run/kept', 'refs/squad/run/kept-3')).toBe(`${commit}\n${later}`);
    expect(findFaults({ repository })).toEqual([]);
  });

  it('is refused while somebody is in it, and where commits of a repository inside would be lost', async () => {
    const bench = await openUsed();
    const order = { commit: bench.commit, attempt: 'task-2', rescueAs: 'kept' };
    const somebody = spawn('sleep', ['60'], { cwd: bench.path, stdio: 'ignore' });
    await new Promise((resolve) => somebody.once('spawn', resolve));
    const detail = [`process ${somebody.pid}`];
    expect(await bench.workspaces.resetFolder(bench.worktree, order)).toEqual({
      type: 'refused',
      reason: 'in-use',
      detail,
    });
    somebody.kill('SIGKILL');
    await new Promise((resolve) => somebody.once('exit', resolve));
    git(bench.path, 'init', '-q', 'vendor');
    git(join(bench.path, 'vendor'), 'commit', '-q', '--allow-empty', '-m', 'inner');
    const refused = await bench.workspaces.resetFolder(bench.worktree, order);
    expect(refused).toEqual({ type: 'refused', reason: 'repositories', detail: ['vendor'] });
    expect(existsSync(join(bench.path, 'vendor', '.git'))).toBe(true);
    expect(existsSync(join(bench.path, 'draft.txt'))).toBe(true);
  });
});

describe('T17 SIGKILL in mid-reset, then addFolder and resetFolder again', () => {
  it.each(
    some(
      [
        'git.before-rescue',
        'git.rescued',
        'git.before-removal',
        'git.half-removed',
        'git.removed',
        'git.before-folder',
        'git.folder-filled',
        'git.directory-moved',
        'git.after-folder',
      ],
      0,
      4,
    ),
  )('at %s: the same end, and one rescue with all of it', SPREAD, async (point) => {
    const bench = await openUsed();
    const before = fingerprint(bench.repository);
    expect(await endOf(startReset(bench, `${point}=kill`))).toBe('SIGKILL');
    await expectReset(bench, before);
  });

  it('in the middle of deleting the folder', async () => {
    const bench = await openUsed();
    const before = fingerprint(bench.repository);
    expect(await endOf(startReset(bench, 'git.half-removed=kill'))).toBe('SIGKILL');
    // A part of it is still there, as when it had been killed a little earlier.
    mkdirSync(bench.path);
    writeFileSync(join(bench.path, 'a.txt'), 'changed\n');
    await expectReset(bench, before);
  });
});

async function expectReset(bench: Awaited<ReturnType<typeof openUsed>>, before: object): Promise<void> {
  const { root, repository, path, work, commit } = bench;
  const { workspaces } = await benchOver(root, repository);
  const worktree = await workspaces.addFolder({ run: 'run', task: 'task', commit });
  const answer = await workspaces.resetFolder(worktree, { commit, attempt: 'task-2', rescueAs: 'kept' });
  expect(answer).toMatchObject({ type: 'ready', folder: { base: commit, resetFor: 'task-2' } });
  expect(git(path, 'rev-parse', 'HEAD')).toBe(commit);
  expect(git(path, 'status', '--porcelain', '--ignored')).toBe('');
  expect(keptRefs(bench)).toBe('refs/squad/run/kept');
  expect(git(repository, 'rev-parse', 'refs/squad/run/kept^')).toBe(work);
  expect(git(repository, 'ls-tree', '--name-only', 'refs/squad/run/kept')).toBe(
    '.gitignore\na.txt\ndraft.txt\nreadme.md\nwork.txt',
  );
  expect(fingerprint(repository)).toEqual(before);
  expect(findFaults(bench)).toEqual([]);
}

function startReset({ root, repository, commit }: GitBench & { commit: string }, failpoints: string): ChildProcess {
  return spawn(process.execPath, [RESET_CHILD, root, repository, commit, failpoints], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'] },
  });
}

async function endOf(child: ChildProcess): Promise<string | number | null> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}
