import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { SquadError } from '../../model/errors.ts';
import { isStorageError } from '../../model/storage-error.ts';
import { ballastPath } from './ballast.ts';
import { newestBackup } from './backup-files.ts';
import { findRemains } from './database-file.ts';
import { logDamage } from './log-damage.ts';
import { openCopy } from './open-copy.ts';
import { closeDb, isOpenHere, openDb, refuseOddFiles, schemaVersion, type Db, type OpenOptions } from './open-db.ts';
import { teachIsReached } from './reached-cap.ts';
import { teachRowDigest } from './row-digest.ts';
import { SCHEMA } from './schema.ts';
import { corruptDatabase, neverSetUp } from './sqlite-errors.ts';

const LEDGER_APPLICATION_ID = 0x53514c47;

export function ledgerPath(directory: string): string {
  return join(directory, 'squad.db');
}

/** Whether there ever was one: a file that is gone leaves its ballast, its log or a backup, and is damage. */
export function hasLedger(directory: string): boolean {
  return wasThere(ledgerPath(directory));
}

function wasThere(path: string): boolean {
  return isThere(path) || isThere(ballastPath(path)) || isThere(`${path}-wal`) || newestBackup(path) !== undefined;
}

/** Also a link to nothing. Below what is no folder, nothing is. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** The bare file, for the ledger and its check. */
export function openLedgerFile(path: string, options: { readOnly: boolean }): Db {
  if (options.readOnly && !wasThere(path)) throw neverSetUp(path);
  refuseOddFiles(path);
  refuseDamagedLog(path);
  const wanted = {
    applicationId: LEDGER_APPLICATION_ID,
    schema: SCHEMA,
    traces: [ballastPath(path)],
    readOnly: options.readOnly,
  };
  // Before the schema is read: it is made before they are.
  const trace = findRemains(path, wanted.traces);
  const db = options.readOnly ? openForReading(path, wanted) : openDb(path, wanted);
  try {
    if (trace !== undefined && schemaVersion(db) === 0) throw emptied(path, trace);
  } catch (error) {
    closeDb(db);
    throw error;
  }
  teachRowDigest(db);
  teachIsReached(db);
  return db;
}

/** The log was lost from its first commits on: the file is marked as a ledger, and has no table. */
function emptied(path: string, trace: string): SquadError {
  return corruptDatabase(path, `nothing is in it and its log squad.db-wal, but ${trace} shows that it held data.`);
}

/**
 * SQLite reads a damaged log up to its damage, and so shows a ledger of an earlier moment, which may be one without a run. An engine
 * would write over the rest.
 */
function refuseDamagedLog(path: string): void {
  if (isOpenHere(path)) return;
  const damage = logDamage(path);
  if (damage !== undefined) throw corruptDatabase(path, `${damage}.`);
}

/** SQLite makes files to read a ledger in WAL mode that no process has open. A full or read-only disk refuses them. */
function openForReading(path: string, options: OpenOptions): Db {
  try {
    return openDb(path, options);
  } catch (error) {
    const copy = isStorageError(error) ? openCopy(path, options) : undefined;
    if (copy === undefined) throw error;
    return copy;
  }
}
