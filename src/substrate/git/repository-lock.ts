import { mkdirSync, realpathSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSquadError, SquadError } from '../../model/errors.ts';
import { closeDb, openDb, type Db } from '../ledger/open-db.ts';
import type { Clock } from '../ports/clock.ts';

const LOCK_APPLICATION_ID = 0x53514754;
/** Longer than the longest work: 16 worktrees of a large repository, one after the other. */
const WAIT_MS = 120_000;

/** A lock across all processes that work on a repository. The kernel releases it however its holder dies. */
export interface RepositoryLock {
  /** Must not be nested. Rejects with `workspace-busy` if another process holds the lock for minutes. */
  hold<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * By file. The lock belongs to the process, so the callers within one process queue here. This also keeps one handle per file,
 * because closing a second one would drop the lock of the first.
 */
const queues = new Map<string, Promise<unknown>>();

/**
 * `git worktree add`, `remove` and `prune` break each other (158 of 400 parallel adds failed), so they need a lock. It is in the
 * common git directory, which all checkouts of a repository share.
 *
 * git keeps running when its engine is killed. So each holder writes its marker, and the next holder calls `recover` with the
 * marker of a dead one first.
 */
export function createRepositoryLock(settings: {
  commonDirectory: string;
  /** If both are needed, `integration` is taken first. */
  name: 'worktrees' | 'integration';
  marker: string;
  clock: Clock;
  recover(marker: string): Promise<void>;
}): RepositoryLock {
  const { clock, marker } = settings;
  return {
    hold: async (work) => {
      const directory = stateDirectory(settings.commonDirectory);
      const file = join(directory, `${settings.name}.db`);
      const holder = join(directory, `${settings.name}.holder`);
      const before = queues.get(file) ?? Promise.resolve();
      const mine = before.then(async () => holdFile(file, clock, () => withMarker(holder, marker, settings, work)));
      // The next caller waits for the end of this one, not for its success.
      queues.set(
        file,
        mine.then(
          () => undefined,
          () => undefined,
        ),
      );
      return mine;
    },
  };
}

/** Among git's own files, which an agent's sandbox keeps read-only. */
function stateDirectory(commonDirectory: string): string {
  const directory = join(realpathSync(commonDirectory), 'squad');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

async function withMarker<T>(
  path: string,
  marker: string,
  settings: { recover(marker: string): Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  const left = await readFile(path, 'utf8').catch(() => undefined);
  if (left !== undefined && left.trim() !== marker) await settings.recover(left.trim());
  await writeFile(path, `${marker}\n`, { mode: 0o600 });
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function holdFile<T>(path: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + WAIT_MS;
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const db = tryLock(path);
    if (db !== undefined) {
      try {
        return await work();
      } finally {
        closeDb(db);
      }
    }
    if (clock.monotonic() >= deadline) throw busy(path);
    await clock.sleep(wait + Math.random() * wait);
  }
}

/** Does not wait inside SQLite, which would block the engine. */
function tryLock(path: string): Db | undefined {
  let db: Db | undefined;
  try {
    db = openDb(path, { applicationId: LOCK_APPLICATION_ID, journal: 'rollback', busyMs: 0 });
    db.exec('BEGIN EXCLUSIVE');
    return db;
  } catch (error) {
    if (db !== undefined) closeDb(db);
    if (isBusy(error)) return undefined;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  if (isSquadError(error)) return error.code === 'workspace-busy';
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY');
}

function busy(path: string): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `${path}: another squad has been working on this repository's worktrees for ${WAIT_MS / 60_000} minutes`,
    next: 'Wait until it is done, or end it. A squad that has died holds no lock.',
  });
}
