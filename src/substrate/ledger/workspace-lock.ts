import { localTime } from '../../text/time.ts';
import { existsSync, lstatSync, realpathSync, renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { readPlainSync } from '../system/files/read-plain.ts';
import { z } from 'zod';
import { SquadError } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { refuseMoved } from './moved-mark.ts';
import { closeDb, FILE_ENDS, isFileAt, openDb, type Db } from './open-db.ts';
import { databaseError } from './sqlite-errors.ts';

const lockHolderSchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Epoch ms. */
  since: z.number().int(),
  /** Tells its process from a later one with this number. Only a service gives it: no other holder is signalled. */
  startTime: z.string().optional(),
});
export type LockHolder = z.infer<typeof lockHolderSchema>;

export function holderHere(pid: number, since: number): LockHolder {
  return { pid, host: hostname(), since };
}

/** As a lease names the holder. */
export function holderName(pid: number): string {
  return `pid ${pid} on ${hostname()}`;
}

/** Proof that this process drives the workspace. Only `lockWorkspace` makes one. */
export interface WorkspaceLock {
  readonly directory: string;
  readonly holder: LockHolder;
  isHeld(): boolean;
  /** Safe to repeat. */
  release(): void;
}

/** "SQLK", so that no other file is taken for it. */
const LOCK_APPLICATION_ID = 0x53514c4b;
/** The winner has time to write its name, and the loser gets its error within a second. */
const LOCK_WAIT_MS = 300;

/** By real path. Keeps the handles from the garbage collector, which would silently drop the locks. */
const held = new Map<string, { db: Db; lock: WorkspaceLock }>();

/**
 * Takes the workspace's lock: a transaction that the kernel ends with its holder. Throws `workspace-busy`, naming the holder.
 * `briefly`: for so short a time that others wait for it, and read no name. `moves`: also while the runs are not here.
 */
export function lockWorkspace(
  directory: string,
  holder: LockHolder,
  briefly = false,
  { moves = false } = {},
): WorkspaceLock {
  const root = realpathSync(directory);
  // Before any file is opened: to close a second descriptor of the lock file would drop the first one's lock.
  const mine = held.get(root);
  if (mine !== undefined) throw busy(root, mine.lock.holder);
  const db = takeLock(root);
  const lock: WorkspaceLock = {
    directory: root,
    holder,
    isHeld: () => held.get(root)?.lock === lock,
    release: () => {
      if (!lock.isHeld()) return;
      try {
        // Remove the name first: after the release it could be the next holder's.
        if (!briefly) removeName(root);
      } catch {
        // A disk that refuses keeps the name, which proves nothing.
      }
      held.delete(root);
      closeDb(db);
    },
  };
  held.set(root, { db, lock });
  try {
    // Under the lock: a move marks the runs under it, too.
    if (!moves) refuseMoved(root);
    if (!briefly) writeName(root, holder);
  } catch (error) {
    held.delete(root);
    closeDb(db);
    throw databaseError(root, error);
  }
  return lock;
}

function takeLock(root: string, isRepaired = false): Db {
  const path = join(root, 'lock.db');
  let db: Db | undefined;
  try {
    db = openDb(path, { applicationId: LOCK_APPLICATION_ID, journal: 'rollback', busyMs: LOCK_WAIT_MS });
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    if (db !== undefined) closeDb(db);
    const code = errorCode(databaseError(path, error));
    if (code === 'workspace-busy') throw busy(root, readLockHolder(root), error);
    if (isRepaired || code !== 'database-corrupt') throw error;
    repairLock(path);
    return takeLock(root, true);
  }
}

/**
 * The lock file holds nothing, so damage to it loses nothing. It is emptied in its place: a holder, or another engine that repairs it,
 * has its lock on the same file. What is no file has no holder and goes out of the way.
 */
function repairLock(path: string): void {
  for (const one of FILE_ENDS.map((end) => path + end)) {
    if (lstatSync(one, { throwIfNoEntry: false }) === undefined) continue;
    if (isFileAt(one)) truncateSync(one);
    else moveAside(one);
  }
}

function moveAside(path: string): void {
  renameSync(path, `${path}.${process.pid}.damaged`);
}

/** The name that the holder wrote for people. It proves nothing. undefined: not readable. */
export function readLockHolder(directory: string): LockHolder | undefined {
  try {
    return lockHolderSchema.parse(JSON.parse(readPlainSync(namePath(directory))));
  } catch {
    // Only the lock counts. Without the name the message is less helpful.
    return undefined;
  }
}

/** Since when a process has driven the workspace; null: none does. Does not take the lock: its holder blocks readers too. */
export function probeLock(directory: string): { readonly since: number } | null {
  const path = join(directory, 'lock.db');
  if (!existsSync(path)) return null;
  // Before the file is opened, as in `lockWorkspace`.
  const mine = held.get(realpathSync(directory));
  if (mine !== undefined) return mine.lock.holder;
  try {
    closeDb(openDb(path, { applicationId: LOCK_APPLICATION_ID, journal: 'rollback', busyMs: 0, readOnly: true }));
    return null;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'workspace-busy') return { since: readLockHolder(directory)?.since ?? 0 };
    // Its maker died before it held anything, or it is damaged, which the next engine repairs.
    if (code === 'usage' || code === 'database-corrupt') return null;
    throw error;
  }
}

/**
 * Throws `workspace-busy` early, with the name of another process that drives the workspace. Takes no lock, so it promises
 * nothing; a driver that has not said its name yet is left to `lockWorkspace`, which waits for it.
 */
export function refuseBusy(directory: string): void {
  const holder = otherDriver(directory);
  if (holder !== undefined) throw busy(realpathSync(directory), holder);
}

/** Another process that drives the workspace, by the name that it has said. */
export function otherDriver(directory: string): LockHolder | undefined {
  if (probeLock(directory) === null || held.has(realpathSync(directory))) return undefined;
  return readLockHolder(directory);
}

function writeName(root: string, holder: LockHolder): void {
  const temporary = `${namePath(root)}.new`;
  try {
    // A folder in the place of the name holds nothing of squad's, and no rename replaces it.
    if (lstatSync(namePath(root), { throwIfNoEntry: false })?.isDirectory() === true) moveAside(namePath(root));
    writeFileSync(temporary, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
    renameSync(temporary, namePath(root));
  } catch {
    // The name is for people, so a full disk must not stop the engine. A former holder's name would mislead.
    removeName(root);
  }
}

/** By `unlink`: what `rmSync` throws on a read-only disk has no code. */
function removeName(root: string): void {
  try {
    unlinkSync(namePath(root));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

function namePath(directory: string): string {
  return join(directory, 'lock.json');
}

function busy(root: string, holder: LockHolder | undefined, cause?: unknown): SquadError {
  const who =
    holder === undefined
      ? 'Another squad'
      : `Another squad (PID ${holder.pid} on ${holder.host}, since ${localTime(holder.since, Date.now())})`;
  return new SquadError({
    code: 'workspace-busy',
    message: `${who} is running in ${root}`,
    next: 'Watch it with `squad watch` or end it with `squad stop`.',
    cause,
  });
}
