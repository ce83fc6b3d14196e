import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, isSquadError } from '../model/errors.ts';
import { closeDb, corruptDatabase, databaseError, openDb, teachRowDigest, type Db } from '../substrate/ledger/index.ts';
import { CheckpointStore } from './checkpoint-store.ts';

/** "SQCP": so that no other file is taken for it. */
const CHECKPOINTS_ID = 0x53514350;

export interface Checkpoints {
  readonly store: CheckpointStore;
  /** What people have to be told: the file was damaged, and is another one now. */
  readonly notice: string | undefined;
  close(): void;
}

/**
 * LangGraph's checkpoints of a workspace. The ledger alone decides where a run stands, and a resume writes that on top of
 * whatever is there: so a damaged file is set aside, whole, and the run goes on with a new one. `kept`: of each run.
 */
export function openCheckpoints(directory: string, kept?: number): Checkpoints {
  const path = join(directory, 'checkpoints.db');
  try {
    return { ...openSound(path, kept), notice: undefined };
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'database-corrupt') throw error;
    setAside(path);
    const notice = `${errorText(error)} It was set aside as ${path}.damaged; the run goes on from its ledger, which has everything.`;
    return { ...openSound(path, kept), notice };
  }
}

function openSound(path: string, kept?: number): Omit<Checkpoints, 'notice'> {
  // One that a power cut took is missed by nobody. To flush each costs more than the superstep itself.
  const db = openDb(path, { applicationId: CHECKPOINTS_ID, durable: 'normal' });
  try {
    const store = new CheckpointStore(db, kept);
    refuseDamage(db, store);
    return { store, close: () => closeDb(db) };
  } catch (error) {
    closeDb(db);
    throw databaseError(path, error);
  }
}

function refuseDamage(db: Db, store: CheckpointStore): void {
  const found = String(db.pragma('quick_check(1)', { simple: true }));
  if (found !== 'ok') throw corruptDatabase(db.name, `the database is damaged (${found}).`);
  teachRowDigest(db);
  store.keepDigests();
  const head = store.damagedHead();
  if (head !== undefined) throw corruptDatabase(db.name, `checkpoint ${head} does not match its digest.`);
}

function setAside(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, `${path}.damaged${suffix}`);
  }
}
