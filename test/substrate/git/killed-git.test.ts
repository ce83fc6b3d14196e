// @module-tag all
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findUsers } from '../../../src/substrate/system/process/folder-users.ts';
import { some, SPREAD } from '../../support/lane.ts';
import { killAll } from '../../support/marked-pids.ts';
import { git } from '../../support/git.ts';
import { benchOver, findFaults, fingerprint, openBench, refusalOf, removeFolders } from './bench.ts';
import { playUnder } from './git-faults.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) if (child.pid !== undefined && child.exitCode === null) killGroup(child.pid);
  removeFolders();
});

describe('T17 kill -9 of a git of the engine’s, then another engine', () => {
  it.each(
    some(
      [
        ['in storing files', 'hash-object'],
        ['in mid-checkout', 'read-tree'],
        ['in taking commits', 'unpack-objects'],
        ['in mid-commit', 'commit-tree'],
        ['in mid-merge', 'merge-tree'],
        ['in moving a ref', 'update-ref'],
      ] as const,
      0,
      3,
    ),
  )('%s: the same end, and nothing of the user’s is touched', SPREAD, async (_, verb) => {
    // At once, so early in what it does; `npm run test:chaos` kills at random instants, and counts the dead.
    expect((await playUnder([{ verb, afterMs: 0 }])).aimed).toBe(1);
  });
});

describe('T17 kill -9 of only the engine’s git, inside the lock of a ref', () => {
  it('leaves no lock: this engine and the next one can move the ref', async () => {
    const bench = await openBench();
    const { root, repository, report, workspaces } = bench;
    const refs = join(repository, '.git', 'refs');
    const doomed = await benchOver(root, repository, gitKilledInLock(root, refs));
    const made = [
      () => doomed.workspaces.createRunBranch('run', report.head),
      () => doomed.workspaces.keepAttempt('run', 'task-1', report.head),
    ];
    for (const make of made) expect((await refusalOf(make())).message).toContain('ended by SIGKILL');
    expect(await workspaces.createRunBranch('run', report.head)).toEqual({ type: 'ready' });
    await workspaces.keepAttempt('run', 'task-1', report.head);
    const commit = commitTree(repository, report.head);
    const moving = () => doomed.workspaces.advance('run', report.head, commit);
    expect((await refusalOf(moving())).message).toContain('ended by SIGKILL');
    expect(await workspaces.advance('run', report.head, commit)).toEqual({ type: 'advanced' });
    expect(readdirSync(refs, { recursive: true }).filter((name) => String(name).endsWith('.lock'))).toEqual([]);
  });

  it('keeps the lock of another ref, and one that another git holds', async () => {
    const bench = await openBench();
    const { root, repository, report } = bench;
    const refs = join(repository, '.git', 'refs');
    const other = join(refs, 'heads', 'squad', 'other.lock');
    mkdirSync(join(refs, 'heads', 'squad'), { recursive: true });
    writeFileSync(other, '');
    const doomed = await benchOver(root, repository, gitKilledInLock(root, refs));
    await refusalOf(doomed.workspaces.createRunBranch('run', report.head));
    expect(existsSync(other)).toBe(true);
    // This git has not died; it has failed, because the lock belongs to another one.
    await refusalOf(bench.workspaces.createRunBranch('other', report.head));
    expect(existsSync(other)).toBe(true);
  });
});

describe('T17 kill -9 of an agent’s git in mid-commit', () => {
  it('leaves locks that stay while their owner lives, and go once it is dead', async () => {
    const bench = await openBench({ 'a.txt': 'a\n' });
    const { workspaces, report, repository } = bench;
    const before = fingerprint(repository);
    const open = () => workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
    const folder = await open();
    const { path } = folder.workspace;
    const lock = join(path, '.git/index.lock');
    writeFileSync(join(path, 'a.txt'), 'changed\n');
    const commit = await startCommit(path, lock);
    await open();
    expect(existsSync(lock)).toBe(true);
    killGroup(commit.pid ?? 0);
    await endOf(commit);
    // Its editor, which the same signal ends.
    while (findUsers(path).length > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(existsSync(lock)).toBe(true);
    writeFileSync(join(path, '.git/HEAD.lock'), '');
    writeFileSync(join(path, '.git/config.lock'), '');
    await open();
    expect(readdirSync(join(path, '.git')).filter((name) => name.endsWith('.lock'))).toEqual([]);
    // The agent's next attempt can commit again; and what it had is there.
    git(path, 'commit', '-q', '-a', '-m', 'again');
    expect(await workspaces.removeFolder(folder, 'task-1')).toMatchObject({ type: 'removed', rescued: false });
    expect(git(repository, 'show', 'refs/squad/run/task-1:a.txt')).toBe('changed');
    expect(fingerprint(repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });
});

describe('T17 a lock of the repository’s own that somebody holds', () => {
  it('is never removed: the error names the file, and what to do', async () => {
    const { workspaces, report, repository } = await openBench();
    await workspaces.createRunBranch('run', report.head);
    await workspaces.keepAttempt('run', 'task-1', report.head);
    git(repository, 'pack-refs', '--all');
    const lock = join(repository, '.git', 'packed-refs.lock');
    writeFileSync(lock, '');
    const refused = await refusalOf(workspaces.dropRefs('run', [], 'id'));
    expect(refused).toMatchObject({ code: 'git-locked', exitCode: 75 });
    expect(refused.message).toContain(
      `${lock} locks the repository, and no git that this user can see is at work there`,
    );
    expect(refused.next).toBe(`Delete the file with \`rm ${lock}\`, and give the command again.`);
    expect(existsSync(lock)).toBe(true);
  });
});

/** A stand-in for git that dies by SIGKILL when it has locked the ref that it was to move. */
function gitKilledInLock(root: string, refs: string): string {
  const path = join(root, 'dying-git');
  const script = `#!/bin/sh
case " $* " in
  *" update-ref "*)
    for word in "$@"; do
      case $word in refs/*) mkdir -p "$(dirname '${refs}'/"\${word#refs/}")"; : >'${refs}'/"\${word#refs/}.lock" ;; esac
    done
    kill -9 $$ ;;
esac
exec /usr/bin/git "$@"
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

function commitTree(repository: string, parent: string): string {
  return git(repository, 'commit-tree', `${parent}^{tree}`, '-p', parent, '-m', 'more');
}

/** An agent's commit that waits for its editor, with the index locked. */
async function startCommit(path: string, lock: string): Promise<ChildProcess> {
  const child = spawn('git', ['commit', '-q', '-a', '-e', '-m', 'slow'], {
    cwd: path,
    env: { PATH: process.env['PATH'], HOME: path, GIT_EDITOR: 'sleep 60 #' },
    stdio: 'ignore',
    detached: true,
  });
  started.push(child);
  for (let tries = 0; !existsSync(lock); tries += 1) {
    if (tries > 1000) throw new Error('it never locked the index');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return child;
}

function killGroup(leader: number): void {
  killAll([-leader]);
}

async function endOf(child: ChildProcess): Promise<string | number | null> {
  if (child.signalCode !== null || child.exitCode !== null) return child.signalCode ?? child.exitCode;
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
}
