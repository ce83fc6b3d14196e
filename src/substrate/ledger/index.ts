import { mkdirSync, realpathSync, statSync, writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ledger } from '../ports/ledger.ts';
import { fillBallast } from './ballast.ts';
import { requireShortPath } from './require-place.ts';
import { contentDamage, fileDamage } from './damage.ts';
import { sizeOf } from './database-file.ts';
import { ledgerPath, openLedgerFile } from './ledger-file.ts';
import { migrate, MIGRATIONS, schemaVersion, type Migration } from './migrations.ts';
import { closeDb, type Db } from './open-db.ts';
import { corruptDatabase, databaseError, neverSetUp } from './sqlite-errors.ts';
import { createSqliteLedger } from './sqlite-ledger.ts';
import { createStore } from './store.ts';
import { guarded } from './transactions.ts';
import { holderHere, lockWorkspace, type WorkspaceLock } from './workspace-lock.ts';

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
export { exportLedger } from './export.ts';

export interface LedgerOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Needed to drive a run. Without it the ledger can be read and takes commands and mail. */
  readonly lock?: WorkspaceLock;
  /** Changes nothing on disk; the ledger has to exist. */
  readonly readOnly?: boolean;
  /** Removes secrets before storage. `letThrough`: the variables that the run's agents get. Absent: known shapes only. */
  redactor?(letThrough: readonly string[]): Redactor;
  /** Tests: less than the usual 8 MB, or another history of schemas. */
  readonly ballastBytes?: number;
  readonly migrations?: readonly Migration[];
}

/** Opens the ledger of a workspace (a folder of the state folder), and makes what is missing. Never replaces a damaged file. */
export function openLedger(directory: string, options: LedgerOptions): Ledger {
  if (options.readOnly !== true) {
    requireShortPath(directory);
    prepareWorkspace(directory);
  }
  const path = ledgerPath(directory);
  const db = openLedgerFile(path, {
    readOnly: options.readOnly === true,
    schemas: (options.migrations ?? MIGRATIONS).length,
  });
  try {
    if (options.readOnly !== true) setUp(db, realpathSync(directory), options);
    refuseOldSchema(db, options);
    if (options.lock !== undefined) refuseDamage(db, options.migrations);
    return createSqliteLedger(
      createStore(db, options.clock, options.redactor?.bind(options)),
      realpathSync(directory),
      options.lock,
    );
  } catch (error) {
    closeDb(db);
    throw databaseError(path, error);
  }
}

/** Migrates an older ledger after a backup. Throws `workspace-busy` while an engine runs. */
export function bringUpToDate(directory: string, clock: Pick<Clock, 'now'>): void {
  const path = ledgerPath(directory);
  // Its maker was stopped before it held anything.
  if (sizeOf(path) === 0) return;
  const db = openLedgerFile(path, { readOnly: true });
  let version: number;
  try {
    version = schemaVersion(db);
  } finally {
    closeDb(db);
  }
  if (version > 0 && version < MIGRATIONS.length) openLedger(directory, { clock }).close();
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

/** Migrates a file with data only under the lock, because an engine of an older version may be using it. */
function setUp(db: Db, directory: string, options: LedgerOptions): void {
  const migrations = options.migrations ?? MIGRATIONS;
  const version = schemaVersion(db);
  const safe = version === 0 || version === migrations.length || options.lock?.isHeld() === true;
  const lock = safe ? undefined : lockWorkspace(directory, holderHere(process.pid, options.clock.now()));
  try {
    migrate(db, migrations);
  } finally {
    lock?.release();
  }
  fillBallast(db.name, options.ballastBytes);
}

function refuseOldSchema(db: Db, options: LedgerOptions): void {
  const version = schemaVersion(db);
  const newest = (options.migrations ?? MIGRATIONS).length;
  if (version === newest) return;
  if (version === 0) throw neverSetUp(db.name);
  throw new SquadError({
    code: 'storage-refused',
    message: `${db.name}: the file has schema ${version}; this squad reads ${newest}.`,
    next: 'Run `squad resume`. It makes a backup and migrates the file.',
  });
}

/** Only the driver checks, once a start. A reader has to answer at once, and finds damage in the rows that it reads. */
function refuseDamage(db: Db, migrations: readonly Migration[] | undefined): void {
  const damage = fileDamage(db) ?? guarded(db, () => contentDamage(db, migrations)[0]);
  if (damage !== undefined) throw corruptDatabase(db.name, `the database is damaged (${damage}).`);
}
