import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isSquadError } from '../../model/errors.ts';
import { closeDb, openDb, type Db } from './open-db.ts';
import { write } from './transactions.ts';

/** "SQCP", to recognise the file. */
export const CHECKPOINTS_ID = 0x53514350;

export const CHECKPOINTS = 'checkpoints.db';

/** Deletes all checkpoints of a thread, and what was written after them, but for the `kept` newest. */
export const PRUNED = ['writes', 'checkpoints'].map(
  (table) => `
DELETE FROM ${table} WHERE thread_id = :thread AND checkpoint_ns = :namespace AND checkpoint_id IN (
  SELECT checkpoint_id FROM checkpoints WHERE thread_id = :thread AND checkpoint_ns = :namespace
  ORDER BY rowid DESC LIMIT -1 OFFSET :kept
)`,
);

const MANY = `
SELECT thread_id AS thread, checkpoint_ns AS namespace, count(*) - 1 AS older FROM checkpoints
GROUP BY thread_id, checkpoint_ns HAVING older > 0`;

interface Thread {
  readonly thread: string;
  readonly namespace: string;
  readonly older: number;
}

/** How many checkpoints each run has besides its newest. None where the file cannot be read: the next engine replaces it. */
export function countOldCheckpoints(directory: string): ReadonlyMap<string, number> {
  const found = withFile(directory, { readOnly: true }, threadsIn) ?? [];
  const counts = new Map<string, number>();
  for (const { thread, older } of found) counts.set(thread, (counts.get(thread) ?? 0) + older);
  return counts;
}

/** Leaves the newest checkpoint of a run, from which it could continue. Needs the workspace's lock. */
export function cutCheckpoints(directory: string, runId: string): void {
  withFile(directory, {}, (db) => {
    const own = threadsIn(db).filter(({ thread }) => thread === runId);
    write(db, () => {
      for (const { thread, namespace } of own)
        for (const statement of PRUNED) db.prepare(statement).run({ thread, namespace, kept: 1 });
    });
  });
}

/** Pages that are given back at once, so that an engine that starts need not wait: 8 MB. */
const PAGES = 2_000;

/** Gives one piece of what deleted checkpoints took back to the disk. false: there is none. Needs the workspace's lock. */
export function shrinkCheckpoints(directory: string): boolean {
  const shrunk = withFile(directory, {}, (db) => {
    const [free, all] = [pragma(db, 'freelist_count'), pragma(db, 'page_count')];
    if (pragma(db, 'auto_vacuum') === INCREMENTAL) {
      if (free === 0) return false;
      db.exec(`PRAGMA incremental_vacuum(${PAGES})`);
      return pragma(db, 'freelist_count') < free;
    }
    // An older squad made it. To write it anew is worth it where most of it is empty.
    if (free * 2 <= all) return false;
    db.pragma(`auto_vacuum = ${INCREMENTAL}`);
    db.exec('VACUUM');
    return true;
  });
  return shrunk === true;
}

const INCREMENTAL = 2;

function pragma(db: Db, name: string): number {
  return Number(db.pragma(name, { simple: true }));
}

function threadsIn(db: Db): readonly Thread[] {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'checkpoints'").get();
  return table === undefined ? [] : db.prepare<[], Thread>(MANY).all();
}

/** undefined: there is no file, or none that can be used. */
function withFile<T>(directory: string, how: { readonly readOnly?: boolean }, work: (db: Db) => T): T | undefined {
  const path = join(directory, CHECKPOINTS);
  if (!existsSync(path)) return undefined;
  try {
    const db = openDb(path, { applicationId: CHECKPOINTS_ID, durable: 'normal', ...how });
    try {
      return work(db);
    } finally {
      closeDb(db);
    }
  } catch (error) {
    if (isSquadError(error) && error.code !== 'storage-full') return undefined;
    throw error;
  }
}
