import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER } from '../runs/session-bench.ts';
import { CLI_ENTRY } from './cli-entry.ts';
import { copyWhole, git, gitCode } from './git.ts';
import { killAll } from './marked-pids.ts';
import { createRandom } from './random.ts';
import { keptIn, MINE, openKillRoom, readFile, RUN, type KillRoom, type Layout } from './whole-kill-room.ts';

/** Each command that removes or merges what a person may need, and what has to be so once it has ended well. */
const COMMANDS = {
  merge: { args: ['merge'], wrong: notMerged },
  drop: { args: ['drop', '--yes'], wrong: notKept },
  'drop --all': { args: ['drop', '--all', '--yes'], wrong: notDropped },
  clean: { args: ['clean', '--all', '--turns', '--refs'], wrong: branchGone },
  uninstall: { args: ['uninstall', '--yes'], wrong: branchGone },
  fork: { args: ['fork', RUN], wrong: notForked },
  'fork --name': { args: ['fork', RUN, '--name', `${RUN}-mine`], wrong: notForked },
} as const;
type KilledCommand = keyof typeof COMMANDS;
export const NAMES = Object.keys(COMMANDS) as KilledCommand[];

/** One trial: what is wrong after the kill, and after the same command again. Empty: nothing. */
async function killOnce(room: KillRoom, name: KilledCommand, random: () => number): Promise<readonly string[]> {
  const { bench, template } = room;
  rmSync(bench.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  copyWhole(template, bench.root);
  const args = [...COMMANDS[name].args, ...(name.startsWith('fork') ? ['--at', room.at] : [])];
  const first = start(room, args);
  await untilDue(room, name, first, random);
  await killWhole(bench.root, first);
  const found = lossesIn(room, name).map((one) => `after the kill: ${one}`);
  const again = await ended(start(room, args));
  if (again.code !== 0) found.push(`the same command again: exit ${again.code} ${again.said.slice(0, 600)}`);
  found.push(...lossesIn(room, name), ...COMMANDS[name].wrong(room), ...locksIn(join(bench.repository, '.git')));
  const scratch = join(bench.root, 'state/squad/git-scratch');
  if (existsSync(scratch) && readdirSync(scratch).some((one) => one.includes('merge'))) found.push('scratch is left');
  return found;
}

/** `trials` of these commands in turn. */
export async function killMany(
  names: readonly KilledCommand[],
  trials: number,
  seed: number,
  layout: Layout = 'plain',
): Promise<string[]> {
  const room = await openKillRoom(layout);
  const failures: string[] = [];
  try {
    for (let index = 0; index < trials; index += 1) {
      const name = names[index % names.length]!;
      const wrong = await killOnce(room, name, createRandom(seed + index * 7_919));
      if (wrong.length > 0) failures.push(`trial ${index} of seed ${seed}, ${name}: ${wrong.join('; ')}`);
    }
    return failures;
  } finally {
    // Its last state is that of a command, and not of a whole run.
    rmSync(room.bench.root, { recursive: true, force: true });
    rmSync(room.template, { recursive: true, force: true });
  }
}

function start({ bench: { root, repository } }: KillRoom, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [CLI_ENTRY, ...args], {
    cwd: repository,
    env: { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Of a command that is not killed, on a machine that does something else too. */
const LONGEST_MS = 1_800;
const WRITES_MS = 250;

/** Half of the merges are killed while git writes their files, and all else anywhere in the command. */
async function untilDue({ bench }: KillRoom, name: KilledCommand, child: ChildProcess, random: () => number) {
  const isOver = (): boolean => child.exitCode !== null;
  const journal = join(bench.repository, '.git/squad-merge/journal.json');
  if (name === 'merge' && random() < 0.7) while (!isOver() && !existsSync(journal)) await pause(2);
  const due = performance.now() + random() * (existsSync(journal) ? WRITES_MS : LONGEST_MS);
  while (!isOver() && performance.now() < due) await pause(2);
}

/** As a reboot does it: squad, and every git of it, at one moment. */
async function killWhole(root: string, child: ChildProcess): Promise<void> {
  const stopped = new Set<number>();
  // One that was started before its parent stood still is found by the next look.
  for (let more = livingIn(root); more.length > 0; more = livingIn(root).filter((pid) => !stopped.has(pid))) {
    for (const pid of more) {
      stopped.add(pid);
      signal(pid, 'SIGSTOP');
    }
  }
  killAll([...stopped]);
  while (child.exitCode === null && child.signalCode === null) await pause(2);
  while (livingIn(root).length > 0) await pause(2);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function livingIn(root: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return false;
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${root}`);
    } catch {
      return false;
    }
  });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stdout?.on('data', (text: Buffer) => void (said += text.toString()));
  child.stderr?.on('data', (text: Buffer) => void (said += text.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, said })));
}

/** What a person has lost. */
function lossesIn({ bench: { root, repository }, delivered }: KillRoom, name: KilledCommand): string[] {
  const lost = Object.entries(MINE).flatMap(([file, text]) =>
    readFile(join(repository, file)) === text ? [] : [`${file} is lost`],
  );
  if (readFile(join(root, 'linked/work.txt')) !== 'precious\n') lost.push('work.txt of a worktree is lost');
  if (git(repository, 'show', 'stash@{0}:mine.txt') !== 'stashed') lost.push('the stash is lost');
  if (gitCode(repository, 'rev-parse', '--verify', 'refs/heads/mine') !== 0) lost.push('a branch is lost');
  if (gitCode(repository, 'fsck', '--no-dangling', '--no-progress') !== 0) lost.push('git fsck complains');
  const refs = git(repository, 'for-each-ref', '--contains', delivered);
  if (refs === '' && name !== 'drop --all') lost.push('no ref has the work');
  return lost;
}

function notMerged({ bench: { repository }, delivered, kept }: KillRoom): string[] {
  const status = git(repository, 'status', '--porcelain', '--untracked-files=no', '--', '.', `:!${FOLDER}`);
  const isThere = git(repository, 'rev-parse', 'HEAD^{tree}') === git(repository, 'rev-parse', `${delivered}^{tree}`);
  return [
    ...(isThere ? [] : ['HEAD is not the merge']),
    ...(status === '' ? [] : [`the checkout is not clean: ${status.slice(0, 200)}`]),
    ...changedSince(kept, keptIn(repository)),
  ];
}

function changedSince(kept: readonly string[], now: readonly string[]): string[] {
  const changed = [...now.filter((one) => !kept.includes(one)), ...kept.filter((one) => !now.includes(one))];
  return changed.map((one) => `changed in the session's folder: ${one.slice(0, 300)}`);
}

function notKept({ bench: { repository }, delivered }: KillRoom): string[] {
  const found = branches(repository);
  const kept = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad')
    .split('\n')
    .filter((ref) => !ref.endsWith('.id'));
  const files = kept.map((ref) => git(repository, 'ls-tree', '--name-only', ref)).join('\n');
  for (const id of ['a', 'b'])
    if (!files.includes(`left-${id}.txt`)) found.push(`the uncommitted work of ${id} is lost`);
  if (git(repository, 'for-each-ref', '--contains', delivered, 'refs/squad') === '')
    found.push('no ref keeps the work');
  return found;
}

function notDropped({ bench: { repository } }: KillRoom): string[] {
  const refs = git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad');
  return [...branches(repository), ...(refs === '' ? [] : [`refs are left: ${refs}`])];
}

function branches(repository: string): string[] {
  return git(repository, 'branch', '--list', 'squad/*') === '' ? [] : ['the branch is left'];
}

/** No other branch has its work. */
function branchGone({ bench: { repository }, delivered }: KillRoom): string[] {
  return git(repository, 'rev-parse', `squad/${RUN}`) === delivered ? [] : ['the branch is gone'];
}

function notForked({ bench: { repository } }: KillRoom): string[] {
  const forks = git(repository, 'branch', '--list', `squad/${RUN}-*`);
  return forks === '' ? ['there is no fork'] : [];
}

function locksIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.lock$|^squad-m|packed-refs\.new/.test(name)).map((name) => `${name} is left`);
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
