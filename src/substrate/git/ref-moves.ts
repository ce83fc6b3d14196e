import { rmdirSync, rmSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOwnFolder } from '../system/files/own-folder.ts';
import { readPlain } from '../system/files/read-plain.ts';
import { sha256Of } from '../../model/sha256.ts';
import { parseJson } from '../../text/json.ts';
import { gitsAt } from './git-locks.ts';
import { lookAtLock, type TakenLock } from './lock-file.ts';
import { isOwnerAlive, ownerSchema, ownOwner } from '../system/process/owner.ts';

/** Where refs are moved: the git directory that all checkouts share. The notes are in squad's own folder. */
export interface MovedRefs {
  readonly stateDirectory: string;
  readonly commonDirectory: string;
}

/** One file for each squad that moves refs in that repository. */
function notesOf({ stateDirectory, commonDirectory }: MovedRefs): string {
  return join(stateDirectory, 'ref-moves', sha256Of(commonDirectory).slice(0, 16));
}

/** A git changes or releases a lock that it has just taken within this time. */
const STABLE_MS = 300;

/**
 * Says that this process moves refs of a repository, so that the next squad knows whose locks are left there if it is killed with its
 * git. Returns what takes that back.
 */
export async function noteMover(place: MovedRefs): Promise<() => void> {
  const owner = ownOwner();
  const folder = notesOf(place);
  const path = join(folder, `${owner.pid}-${owner.startTime}`);
  try {
    for (const own of [dirname(folder), folder]) makeOwnFolder(own);
    await writeFile(path, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  } catch {
    // Without the note, a person has to remove a lock that is left.
  }
  return () => removeNotes(folder, [path]);
}

function removeNotes(folder: string, notes: readonly string[]): void {
  try {
    // A folder in the place of a note is none either.
    for (const path of notes) rmSync(path, { recursive: true, force: true });
    for (const one of [folder, dirname(folder)]) rmdirSync(one);
  } catch {
    // It is another squad's too, or gone.
  }
}

/** Removes the locks of refs that squads have left which were killed with their git; none while a git is at work there. */
export async function removeLeftLocks(place: MovedRefs): Promise<void> {
  const folder = notesOf(place);
  const dead: string[] = [];
  for (const name of await namesIn(folder)) {
    const owner = ownerSchema.safeParse(parseJson(await readPlain(join(folder, name)).catch(() => '')));
    if (!owner.success || !isOwnerAlive(owner.data)) dead.push(join(folder, name));
  }
  if (dead.length === 0 || !(await removeStable(place.commonDirectory))) return;
  removeNotes(folder, dead);
}

/** false: a git is at work there, whose locks these may be. */
async function removeStable(commonDirectory: string): Promise<boolean> {
  const before = await listLocks(commonDirectory);
  if (before.length === 0) return true;
  if (before.some(({ path }) => gitsAt(path).length > 0)) return false;
  await sleep(STABLE_MS);
  if (before.some(({ path }) => gitsAt(path).length > 0)) return false;
  for (const { path, inode, changed } of before) {
    const now = lookAtLock(path);
    if (now?.inode === inode && now.changed === changed) await rm(path, { force: true });
  }
  return true;
}

/** Only squads move these refs; `packed-refs` is rewritten to delete one of them. */
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
