import { rmdirSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '../../text/json.ts';
import { gitsAt } from './git-locks.ts';
import { lookAtLock, type TakenLock } from './lock-file.ts';
import { isOwnerAlive, ownerSchema, ownOwner } from './merge-owner.ts';

/** In a git directory: one file for each squad that moves refs there. */
const FOLDER = 'squad-moves';
/** A git changes or releases a lock that it has just taken within this time. */
const STABLE_MS = 300;

/**
 * Says that this process moves refs in a git directory, so that the next squad knows whose locks are left there if it is killed with
 * its git. Returns what takes that back.
 */
export async function noteMover(directory: string): Promise<() => void> {
  const owner = ownOwner();
  const path = join(directory, FOLDER, `${owner.pid}-${owner.startTime}`);
  try {
    await mkdir(join(directory, FOLDER), { recursive: true });
    await writeFile(path, `${JSON.stringify(owner)}\n`);
  } catch {
    // git says what is wrong there. Without the note, a person has to remove a lock that is left.
  }
  return () => {
    rmSync(path, { force: true });
    try {
      rmdirSync(join(directory, FOLDER));
    } catch {
      // It is another squad's too.
    }
  };
}

/** Removes the locks of refs that squads have left which were killed with their git; none while a git is at work there. */
export async function removeLeftLocks(directory: string): Promise<void> {
  const folder = join(directory, FOLDER);
  const dead: string[] = [];
  for (const name of await namesIn(folder)) {
    const owner = ownerSchema.safeParse(parseJson(await readFile(join(folder, name), 'utf8').catch(() => '')));
    if (!owner.success || !isOwnerAlive(owner.data)) dead.push(join(folder, name));
  }
  if (dead.length === 0) return;
  const before = await listLocks(directory);
  if (before.length > 0) {
    if (before.some(({ path }) => gitsAt(path).length > 0)) return;
    await sleep(STABLE_MS);
    const still = new Map((await listLocks(directory)).map((lock) => [lock.path, lock]));
    if (before.some(({ path }) => gitsAt(path).length > 0)) return;
    for (const { path, inode, changed } of before) {
      const now = still.get(path);
      if (now?.inode === inode && now.changed === changed) await rm(path, { force: true });
    }
  }
  for (const path of dead) await rm(path, { force: true });
  await rmdir(folder).catch(() => undefined);
}

/** Of the refs that only squads move, and of the file that git rewrites to delete one of them. */
async function listLocks(directory: string): Promise<readonly TakenLock[]> {
  const inside = await Promise.all(
    ['refs/squad', 'refs/heads/squad'].map(async (below) =>
      (await namesIn(join(directory, below))).map((name) => join(below, name)),
    ),
  );
  const names = ['packed-refs.lock', 'packed-refs.new', ...inside.flat().filter((name) => name.endsWith('.lock'))];
  return names.flatMap((name) => lookAtLock(join(directory, name)) ?? []);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder, { recursive: true }).catch(() => []);
}
