import { existsSync, lstatSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Database from 'better-sqlite3';
import { SquadError } from '../../model/errors.ts';
import { findRemains, isFreshFile, readHeader, secureFile, type DatabaseHeader } from './database-file.ts';
import { readNetworkFilesystem } from './filesystem-kind.ts';
import { shellWord } from '../../text/shell-word.ts';
import { updateLine } from '../system/installed.ts';
import { corruptDatabase, databaseError, neverSetUp } from './sqlite-errors.ts';
import { isSafeSqlite } from './sqlite-version.ts';
import { forceImmediate, guarded } from './transactions.ts';

export type Db = Database.Database;

export interface OpenOptions {
  /** Marks the file as ours and of one kind, so that a foreign database is refused. Positive, 31 bits. */
  readonly applicationId: number;
  /** The only `user_version` that this program reads; another file is refused before SQLite touches it. Absent: any. */
  readonly schema?: number;
  /** Files whose presence proves that the database held data once. */
  readonly traces?: readonly string[];
  /** `rollback` is for lock files only. */
  readonly journal?: 'wal' | 'rollback';
  /** How long a statement waits for another process, in ms. */
  readonly busyMs?: number;
  readonly readOnly?: boolean;
  /** `normal`: a power cut may lose the last commits, but leaves the file whole. */
  readonly durable?: 'full' | 'normal';
  /** Counts when the file is made: pages of deleted rows can be given back to the disk piece by piece. */
  readonly shrinks?: boolean;
}

/** 32 busy writers on two cores can starve one of them for seconds, and no caller must see SQLITE_BUSY. */
const BUSY_MS = 15_000;
/** SQLite names the files of a database by these suffixes. */
export const FILE_ENDS = ['', '-wal', '-shm', '-journal'];
const WAL_BYTES = 64 * 1024 * 1024;
/** Page cache of each file. A night of work fills better-sqlite3's own 16 MB, and nearly all reads are of new pages. */
const CACHE_KIB = 4_096;

/** More than this program has. It bounds SQL that is built at run time. */
const MOST_STATEMENTS = 500;

/** better-sqlite3 closes a garbage-collected handle and silently drops its locks, so this keeps every open handle. */
const openHandles = new Map<Db, string>();

/**
 * The one way to open a SQLite file; close it with `closeDb`. Throws `sqlite-unsafe`, `network-filesystem`, `schema-newer`,
 * `schema-older`, `storage-refused`, or `database-corrupt` for a file that is damaged, cut short, foreign, or empty where data was.
 */
export function openDb(path: string, options: OpenOptions): Db {
  try {
    return openChecked(path, options);
  } catch (error) {
    throw databaseError(path, error);
  }
}

/** Safe to repeat. */
export function closeDb(db: Db): void {
  openHandles.delete(db);
  db.close();
}

function openChecked(path: string, options: OpenOptions): Db {
  refuseNetworkFilesystem(path);
  refuseOddFiles(path, options.journal);
  const fresh = isFreshFile(path, options.traces ?? []);
  if (options.readOnly !== true) secureFile(path);
  // SQLite's own look at a lock file finds its holder before it finds damage.
  const looksFirst = !fresh && options.journal !== 'rollback';
  if (looksFirst && !isOpenHere(path)) refuseHeader(path, readHeader(path), options);
  const db = new Database(path, { timeout: options.busyMs ?? BUSY_MS, readonly: options.readOnly === true });
  openHandles.set(db, identityOf(path));
  try {
    refuseUnsafeSqlite(db);
    cacheStatements(db);
    forceImmediate(db);
    // Check before setting the journal mode, which writes to the file.
    configure(db, options, isOurs(db, options));
    claimFile(db, options);
    return db;
  } catch (error) {
    closeDb(db);
    throw error;
  }
}

function configure(db: Db, options: OpenOptions, isOld: boolean): void {
  db.pragma('foreign_keys = ON');
  db.pragma(`synchronous = ${options.durable ?? 'full'}`);
  db.pragma(`cache_size = -${CACHE_KIB}`);
  if (options.readOnly === true) return;
  // In a file that has anything it has no effect, and writes its header.
  if (options.shrinks === true && !isOld) db.pragma('auto_vacuum = INCREMENTAL');
  db.pragma(`journal_size_limit = ${WAL_BYTES}`);
  const wanted = options.journal === 'rollback' ? 'delete' : 'wal';
  const mode = db.pragma(`journal_mode = ${wanted}`, { simple: true });
  if (mode !== wanted) throw corruptDatabase(db.name, `the journal mode stays ${String(mode)}; it must be ${wanted}.`);
}

/** Marks a new file as ours and refuses another program's. The write-ahead log may hold a newer header than the file. */
function claimFile(db: Db, options: OpenOptions): void {
  if (isOurs(db, options)) return;
  if (options.readOnly === true) {
    const trace = findRemains(db.name, options.traces ?? []);
    if (trace !== undefined)
      throw corruptDatabase(db.name, `${whatIsEmpty(db.name)}, but ${trace} shows that it held data.`);
    throw neverSetUp(db.name);
  }
  db.transaction(() => {
    // Another process may have been faster.
    if (!isOurs(db, options)) db.pragma(`application_id = ${options.applicationId}`);
  })();
}

/** All that a ledger holds may still be in its log. */
function whatIsEmpty(path: string): string {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  const name = `${basename(path)}-wal`;
  return `nothing is in it, and its log ${name} is ${log === undefined ? 'gone' : 'empty or cut short'}`;
}

/** False: the file is new. Throws for another program's file or another schema. */
function isOurs(db: Db, options: OpenOptions): boolean {
  const header = {
    applicationId: Number(db.pragma('application_id', { simple: true })),
    userVersion: Number(db.pragma('user_version', { simple: true })),
    bytes: 0,
  };
  const tables = db.prepare<[], { count: number }>('SELECT count(*) AS count FROM sqlite_schema').get()?.count ?? 0;
  refuseHeader(db.name, header, options);
  const ours = header.applicationId === options.applicationId;
  if (!ours && tables > 0) throw corruptDatabase(db.name, 'the file belongs to another program.');
  return ours;
}

function refuseHeader(path: string, header: DatabaseHeader, options: OpenOptions): void {
  // Id 0: the maker died between its first two writes. `isOurs` refuses the file if it has tables.
  if (header.applicationId !== options.applicationId && (header.applicationId !== 0 || header.userVersion !== 0)) {
    throw corruptDatabase(path, 'the file belongs to another program.');
  }
  const { schema = header.userVersion } = options;
  if (header.userVersion !== 0 && header.userVersion !== schema) throw otherSchema(path, header.userVersion, schema);
}

/** `found` is not 0, which a new file has until its tables are made. */
function otherSchema(path: string, found: number, known: number): SquadError {
  const folder = shellWord(dirname(path));
  if (found > known)
    return new SquadError({
      code: 'schema-newer',
      message: `${path}: written by a newer squad (schema ${found}; this one knows ${known}).`,
      next: `Update with ${updateLine('newest')}; the file was not touched.`,
    });
  return new SquadError({
    code: 'schema-older',
    message: `${path}: written by a squad from before its first release (schema ${found}; this one knows ${known}).`,
    next: `Keep the folder under another name, and start again: \`mv ${folder} ${folder}.old\`. The commits of its runs stay in the repository.`,
  });
}

/** The number of the tables of a file; 0: they are not made yet. */
export function schemaVersion(db: Db): number {
  return guarded(db, () => Number(db.pragma('user_version', { simple: true })));
}

/**
 * A named pipe would let the process that opens it wait for ever. SQLite reads through a link and does not write through it, so one
 * command would find the ledger sound and another would not.
 */
export function refuseOddFiles(path: string, journal: OpenOptions['journal'] = 'wal'): void {
  for (const end of FILE_ENDS) {
    const found = lstatSync(path + end, { throwIfNoEntry: false });
    if (found === undefined || found.isFile()) continue;
    const name = `${basename(path)}${end}`;
    if (journal === 'rollback') {
      // A lock file holds nothing, and `squad db check` does not open it.
      if (isFileAt(path + end)) continue;
      throw corruptDatabase(path, `${name} is not a file.`);
    }
    // SQLite makes it again: nothing is lost with it.
    if (end === '-shm' && !found.isSymbolicLink())
      throw inTheWay(path, name, 'is not a file', `remove it: \`rm -r ${shellWord(`${path}${end}`)}\``);
    if (!found.isSymbolicLink()) throw corruptDatabase(path, `${name} is not a file.`);
    const why = 'is a symbolic link, and squad opens no database through a link';
    throw inTheWay(path, name, why, 'put the file that the link points to in its place');
  }
}

/** A link to a file counts, and one to nothing or to itself does not. */
export function isFileAt(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function inTheWay(path: string, name: string, why: string, what: string): SquadError {
  return new SquadError({
    code: 'storage-refused',
    message: `${path}: ${name} ${why}.`,
    next: `End any running squad, ${what}, then run the command again.`,
  });
}

function refuseUnsafeSqlite(db: Db): void {
  const version = db.prepare<[], { version: string }>('SELECT sqlite_version() AS version').get()?.version ?? 'unknown';
  if (isSafeSqlite(version)) return;
  throw new SquadError({
    code: 'sqlite-unsafe',
    message: `${db.name}: SQLite ${version} can corrupt databases that several processes write.`,
    next: `Install it again with ${updateLine('newest')}, which brings SQLite 3.51.3 or newer.`,
  });
}

function refuseNetworkFilesystem(path: string): void {
  const kind = readNetworkFilesystem(dirname(path));
  if (kind === undefined) return;
  throw new SquadError({
    code: 'network-filesystem',
    message: `${path}: the folder is on a network filesystem (${kind}), where SQLite databases are corrupted.`,
    next: 'Work in a clone of the repository on a local disk.',
  });
}

/** Whether this process has the file open, under any path. */
export function isOpenHere(path: string): boolean {
  return existsSync(path) && [...openHandles.values()].includes(identityOf(path));
}

function identityOf(path: string): string {
  const found = statSync(path, { bigint: true });
  return `${found.dev}:${found.ino}`;
}

/**
 * Makes `db.prepare` return the same statement for the same text, because LangGraph's SqliteSaver prepares at every checkpoint
 * (385 MB after 10,000 supersteps). Never switch a statement to `pluck`, `raw` or `expand`, nor leave an `iterate` unfinished.
 */
function cacheStatements(db: Db): void {
  const statements = new Map<string, Database.Statement>();
  const prepare = db.prepare.bind(db);
  const cached = (source: string): Database.Statement => {
    const known = statements.get(source);
    if (known !== undefined) return known;
    const oldest = statements.keys().next().value;
    if (statements.size >= MOST_STATEMENTS && oldest !== undefined) statements.delete(oldest);
    const statement = prepare(source);
    statements.set(source, statement);
    return statement;
  };
  // The declared type maps parameter types that exist only in the caller's head; at run time there is one signature.
  db.prepare = cached as typeof db.prepare;
}
