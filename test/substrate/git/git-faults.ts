import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { cleanRun } from '../../../src/cli/clean-run.ts';
import { createRepository, git } from '../../support/git.ts';
import { ADDS_CHILD } from './adds-child.ts';
import { benchOver, commonDirectoryOf, findFaults, fingerprint, type GitBench } from './bench.ts';
import { ENGINE_CHILD, playRun } from './engine-child.ts';

/** Files enough that git can be killed in the middle of writing them. */
const MANY = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`src/${n % 10}/${n}.txt`, `${n}\n`.repeat(40)]));

/** A bench that is gone when the work is done, however it ends. */
async function withBench<T>(
  files: Readonly<Record<string, string>>,
  work: (bench: GitBench, before: object) => Promise<T>,
): Promise<T> {
  const root = mkdtempSync(join(tmpdir(), 'squad-git-'));
  try {
    const repository = createRepository(join(root, 'repository'), files);
    // A person has something of everything that could be lost.
    writeFileSync(join(repository, 'readme.md'), 'stashed\n');
    git(repository, 'stash', 'push', '-q');
    writeFileSync(join(repository, 'staged.txt'), 'staged\n');
    git(repository, 'add', 'staged.txt');
    writeFileSync(join(repository, 'readme.md'), 'changed\n');
    return await work(await benchOver(root, repository), fingerprint(repository));
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Each engine adds its worktrees in parallel, while somebody holds `config.lock`; then all of them are cleaned away. */
export async function addAtOnce({ engines, each }: { engines: number; each: number }): Promise<void> {
  await withBench({ 'src/a.txt': 'a\n' }, async (bench) => {
    const { root, repository, report, workspaces } = bench;
    writeFileSync(join(repository, '.git', 'config.lock'), '');
    const before = fingerprint(repository);
    const runs = Array.from({ length: engines }, (_, index) => `run-${index}`);
    const children = runs.map((run) => start([ADDS_CHILD, root, repository, report.head, run, String(each)]));
    expect(await Promise.all(children.map(endOf))).toEqual(runs.map(() => 0));
    rmSync(join(repository, '.git', 'config.lock'));
    expect(findFaults(bench)).toEqual([]);
    writeFileSync(join(repository, '.git', 'config.lock'), '');
    for (const run of runs) {
      const listed = await workspaces.listFolders(run);
      expect(listed).toHaveLength(each);
      for (const { path } of listed) expect(git(path, 'status', '--porcelain')).toBe('');
      const cleaned = await cleanRun(
        workspaces,
        root,
        { run, id: run, attempts: [] },
        { dryRun: false, turns: false, refs: true },
      );
      expect(cleaned.folders.filter(({ action }) => action !== 'removed')).toEqual([]);
    }
    expect(fingerprint(repository)).toEqual(before);
    rmSync(join(repository, '.git', 'config.lock'));
    expect(findFaults(bench)).toEqual([]);
  });
}

/** What is killed: one git of the engine's, or the engine itself, whose git goes on. */
export interface GitKill {
  /** A word of git's arguments: the first such call is the victim. Absent: the engine. */
  readonly verb?: string;
  readonly afterMs: number;
}

/** `aimed`: gits that were killed at; `gits`: really dead by it, because they were not faster than their killer. */
export interface Killed {
  readonly engines: number;
  readonly aimed: number;
  readonly gits: number;
}

/** A run of two tasks under these kills, one after the other, each in a new engine; then one that may live. */
export async function playUnder(kills: readonly GitKill[]): Promise<Killed> {
  return withBench(MANY, async (bench, before) => {
    const { root, repository, workspaces } = bench;
    let [engines, aimed, gits] = [0, 0, 0];
    for (const kill of kills) {
      const engine = start([ENGINE_CHILD, root, repository, '', killer(root, kill), 'run']);
      const timer = kill.verb === undefined ? setTimeout(() => engine.kill('SIGKILL'), kill.afterMs) : undefined;
      const ended = await endOf(engine);
      clearTimeout(timer);
      if (existsSync(join(root, 'killed'))) aimed += 1;
      if (existsSync(deadMark(root))) gits += 1;
      if (ended === 'SIGKILL') engines += 1;
      if (ended === 0) break;
    }
    await playRun(bench);
    expect(git(repository, 'ls-tree', '--name-only', 'squad/run')).toBe('draft.txt\none.txt\nreadme.md\nsrc\ntwo.txt');
    for (const task of ['one', 'two']) {
      expect(git(repository, 'show', `refs/squad/run/${task}-1:draft.txt`)).toBe('draft');
      expect(git(repository, 'show', `refs/squad/run/${task}-1:${task}.txt`)).toBe(task);
    }
    await cleanRun(
      workspaces,
      root,
      { run: 'run', id: 'run', attempts: [] },
      { dryRun: false, turns: false, refs: true },
    );
    expect(git(repository, 'for-each-ref', 'refs/squad')).toBe('');
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
    expect(readdirSync(commonDirectoryOf(repository))).not.toContain('worktrees');
    return { engines, aimed, gits };
  });
}

/** A stand-in for git that kills the first call with this word in it, once. */
function killer(root: string, { verb, afterMs }: GitKill): string {
  const path = join(root, 'killing-git');
  const mark = join(root, 'killed');
  for (const old of [mark, deadMark(root)]) rmSync(old, { recursive: true, force: true });
  const script = `#!/bin/sh
case " $* " in
  *" ${verb ?? 'nothing at all'} "*)
    if mkdir '${mark}' 2>/dev/null; then
      /usr/bin/git "$@" & child=$!
      ${afterMs === 0 ? '' : `sleep ${(afterMs / 1000).toFixed(3)}`}
      kill -9 $child 2>/dev/null
      wait $child; code=$?
      [ $code -ne 137 ] || mkdir '${deadMark(root)}'
      exit $code
    fi ;;
esac
exec /usr/bin/git "$@"
`;
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

function deadMark(root: string): string {
  return join(root, 'killed-git-is-dead');
}

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'], env: { PATH: process.env['PATH'] } });
}

async function endOf(child: ChildProcess): Promise<string | number | null> {
  if (child.signalCode !== null || child.exitCode !== null) return child.signalCode ?? child.exitCode;
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}
