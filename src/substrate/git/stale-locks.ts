import { readdir, readlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../model/storage-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { TidyAnswer, Worktree } from '../ports/workspaces.ts';

/** A running git holds a lock for milliseconds, unless it waits for an editor. */
const WAIT_MS = 2_000;

/** Like `removeStaleLocks`, but waits up to two seconds for locks of running processes. */
export async function tidyWorktree(clock: Clock, worktree: Worktree): Promise<TidyAnswer> {
  const deadline = clock.monotonic() + WAIT_MS;
  for (;;) {
    const answer = await removeStaleLocks(worktree);
    if (answer.held.length === 0 || clock.monotonic() >= deadline) return answer;
    await clock.sleep(50);
  }
}

/**
 * Removes lock files of a killed git from a worktree's git directory, because git refuses to work while they exist. Removes them
 * only if no process of this machine works in the folder or has the lock open: git keeps a lock open or, while a hook or an
 * editor runs, works in the folder. Without /proc this cannot be seen, and nothing is removed.
 */
export async function removeStaleLocks(worktree: Worktree): Promise<TidyAnswer> {
  const { path, git } = worktree.workspace;
  const names: readonly string[] = await readdir(git.worktreeDirectory).catch(() => []);
  const locks = names.filter((name) => name.endsWith('.lock')).map((name) => join(git.worktreeDirectory, name));
  if (locks.length === 0) return { removed: [], held: [] };
  if (process.platform !== 'linux') return { removed: [], held: locks };
  const users = [...(await findUsers(path)), ...(await findUsers(git.worktreeDirectory))];
  if (users.length > 0) return { removed: [], held: locks };
  const gone = await Promise.all(locks.map(isRemoved));
  return { removed: locks.filter((_, index) => gone[index]), held: [] };
}

/** false: its owner removed it meanwhile. */
async function isRemoved(lock: string): Promise<boolean> {
  try {
    await unlink(lock);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Processes that work in a folder or have a file below it open, if this user may see them. Empty without /proc. */
export async function findUsers(folder: string): Promise<readonly number[]> {
  if (process.platform !== 'linux') return [];
  const inside = (target: string): boolean => target === folder || target.startsWith(`${folder}/`);
  const users: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const places = [`/proc/${name}/cwd`, ...(await list(`/proc/${name}/fd`))];
    const targets = await Promise.all(places.map(async (place) => readlink(place).catch(() => '')));
    if (targets.some(inside)) users.push(Number(name));
  }
  return users;
}

async function list(folder: string): Promise<readonly string[]> {
  // The process has ended, or belongs to another user.
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => `${folder}/${name}`);
}
