import { mkdirSync, realpathSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ledger } from '../ports/ledger.ts';
import { fillBallast } from './ballast.ts';
import { requireShortPath } from './require-place.ts';
import { contentDamage, fileDamage } from './damage.ts';
import { sizeOf } from './database-file.ts';
import { ledgerPath, openLedgerFile } from './ledger-file.ts';
import { refuseMoved } from './moved-mark.ts';
import { closeDb, schemaVersion, type Db } from './open-db.ts';
import { makeTables, SCHEMA } from './schema.ts';
import { corruptDatabase, databaseError, neverSetUp } from './sqlite-errors.ts';
import { createSqliteLedger } from './sqlite-ledger.ts';
import { createStore } from './store.ts';
import { guarded, write } from './transactions.ts';
import type { WorkspaceLock } from './workspace-lock.ts';

export {
  holderHere,
  holderName,
  lockWorkspace,
  readLockHolder,
  type LockHolder,
  type WorkspaceLock,
} from './workspace-lock.ts';
export { closeDb, openDb, type Db } from './open-db.ts';
export { write } from './transactions.ts';
export { hasLedger, ledgerPath } from './ledger-file.ts';
export { teachRowDigest } from './row-digest.ts';
export { corruptDatabase, databaseError } from './sqlite-errors.ts';
export { sqliteLibrary } from './sqlite-version.ts';
export { checkDatabase, type DatabaseCheck } from './check-database.ts';
export { backUpAfterRun, backUpLedger } from './backup.ts';
export { backupFolder, filesOf, oldBackups } from './backup-files.ts';
export { exportLedger } from './export.ts';

export interface LedgerOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Needed to drive a run. Without it the ledger can be read and takes commands and mail. */
  readonly lock?: WorkspaceLock;
  /** Changes nothing on disk; the ledger has to exist. */
  readonly readOnly?: boolean;
  /** Removes secrets before storage. `letThrough`: the variables that the run's agents get. Absent: known shapes only. */
  redactor?(letThrough: readonly string[]): Redactor;
  /** Tests: less than the usual 8 MB. */
  readonly ballastBytes?: number;
}

/** Opens the ledger of a workspace (a folder of the state folder), and makes what is missing. Never replaces a damaged file. */
export function openLedger(directory: string, options: LedgerOptions): Ledger {
  if (options.readOnly !== true) {
    // Before a file is made where the runs may be about to arrive.
    if (options.lock === undefined) refuseMoved(directory);
    requireShortPath(directory);
    prepareWorkspace(directory);
  }
  const path = ledgerPath(directory);
  const db = openLedgerFile(path, { readOnly: options.readOnly === true });
  try {
    if (options.readOnly !== true) setUp(db, options);
    if (schemaVersion(db) === 0) throw neverSetUp(path);
    if (options.lock !== undefined) refuseDamage(db);
    return createSqliteLedger(
      createStore(db, options.clock, options.redactor?.bind(options), options.lock?.holder.since),
      realpathSync(directory),
      options.lock,
    );
  } catch (error) {
    closeDb(db);
    throw databaseError(path, error);
  }
}

/** Makes the folder of a workspace where it is missing: private to its owner and invisible to git. Throws SquadError. */
export function prepareWorkspace(directory: string): void {
  try {
    makeFolder(directory);
    const ignore = join(directory, '.gitignore');
    // Empty: the disk was full when it was made.
    if (sizeOf(ignore) === 0) writeFileSync(ignore, '*\n', { mode: 0o600 });
    if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch (error) {
    throw databaseError(directory, error);
  }
}

/** Makes no parent folders: the repository has to exist. */
function makeFolder(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // There already, or another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The tables of a new file, in one transaction, and the ballast. */
function setUp(db: Db, options: LedgerOptions): void {
  if (schemaVersion(db) === 0)
    write(db, () => {
      // Another process that opened the same new file may have been faster.
      if (schemaVersion(db) !== 0) return;
      makeTables(db);
      db.pragma(`user_version = ${SCHEMA}`);
    });
  fillBallast(db.name, options.ballastBytes);
}

/** Only the driver checks, once a start. A reader has to answer at once, and finds damage in the rows that it reads. */
function refuseDamage(db: Db): void {
  const damage = fileDamage(db) ?? guarded(db, () => contentDamage(db)[0]);
  if (damage !== undefined) throw corruptDatabase(db.name, `the database is damaged (${damage}).`);
}
