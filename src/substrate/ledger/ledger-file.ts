import { copyFileSync, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { SquadError } from '../../model/errors.ts';
import { type CapName, isReached } from '../../model/spending.ts';
import { errorCode, isStorageError } from '../../model/storage-error.ts';
import { newestBackup } from './backup-files.ts';
import { ballastPath } from './ballast.ts';
import { findRemains } from './database-file.ts';
import { closeDb, type Db, isOpenHere, openDb, type OpenOptions, refuseOddFiles, schemaVersion } from './open-db.ts';
import { teachRowDigest } from './row-digest.ts';
import { SCHEMA } from './schema.ts';
import { corruptDatabase, neverSetUp } from './sqlite-errors.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Sums in the byte order of little-endian machines; one more: of big-endian ones. */
const MAGIC = 0x377f0682;
/** A log that another process writes looks torn for a moment. */
const LOOKS = 3;

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

/** In memory: the disk of temporary files may be the full one. A machine without it gets the cause instead. */
const MEMORY = '/dev/shm';

/** The database first: what moves from the log to it meanwhile is then seen as a change. */
const PARTS = ['', '-wal'];

/**
 * Opens a copy of a database whose own disk refuses what SQLite needs to read it. The copy has the name of the original and no file.
 * undefined: it cannot be copied, or something wrote to it meanwhile, so that the copy could be of two moments.
 */
function openCopy(path: string, options: OpenOptions): Db | undefined {
  if (isOpenHere(path)) return undefined;
  const folder = folderIn(MEMORY);
  if (folder === undefined) return undefined;
  try {
    const copy = join(folder, 'copy.db');
    for (const end of PARTS) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
    if (!PARTS.every((end) => isSame(path + end, copy + end))) return undefined;
    return opened(copy, path, options);
  } catch {
    // The caller says why the original cannot be read.
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the log in it, so that SQLite needs no file beside it once it is open. */
function opened(copy: string, path: string, options: OpenOptions): Db {
  closeDb(openDb(copy, { ...options, traces: [], readOnly: false, journal: 'rollback' }));
  const db = openDb(copy, { ...options, traces: [] });
  // The name of a database cannot be changed; what stands before it has that of the original.
  return Object.create(db, { name: { value: path }, close: { value: () => closeDb(db) } }) as Db;
}

function folderIn(place: string): string | undefined {
  try {
    return mkdtempSync(join(place, 'squad-copy-'));
  } catch {
    return undefined;
  }
}

/**
 * Each file was the same before and after the moment at which both were copied. Times of files cannot say so: a clock that is set back
 * makes what was written long ago new, and what is new old. The look that failed may have left an empty log.
 */
function isSame(original: string, copy: string): boolean {
  return contentOf(original).equals(contentOf(copy));
}

function contentOf(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/** Makes `is_reached(cap, used, most)` known to the statements of this connection, so that the check judges as the engine does. */
export function teachIsReached(db: Database): void {
  const judge = (cap: CapName, used: number | null, most: number) => (isReached(cap, used ?? 0, most) ? 1 : 0);
  db.function('is_reached', { deterministic: true }, judge);
}

/**
 * Damage in the middle of a write-ahead log (sqlite.org/fileformat2.html §4): SQLite takes the first frame that does not match its
 * sum for the end, and what was committed after it is lost without a word. A torn end, as a kill or a power cut leaves it, is none.
 */
function logDamage(path: string): string | undefined {
  let found: string | undefined;
  for (let look = 0; look < LOOKS; look += 1) {
    const now = damageIn(readIfThere(`${path}-wal`));
    if (now === undefined || (look > 0 && now !== found)) return undefined;
    found = now;
  }
  return found;
}

function damageIn(log: Buffer): string | undefined {
  if (log.length <= HEADER_BYTES + FRAME_HEADER_BYTES) return undefined;
  const magic = log.readUInt32BE(0);
  const sum = [0, 0] as [number, number];
  addTo(sum, log, 0, 24, magic === MAGIC);
  const isHeader = (magic === MAGIC || magic === MAGIC + 1) && holds(log, 24, sum);
  // When SQLite begins a log anew, only its header is new; it is flushed before a frame follows.
  if (!isHeader) return 'the head of its log squad.db-wal is damaged';
  const page = log.readUInt32BE(8);
  const size = FRAME_HEADER_BYTES + page;
  let at = HEADER_BYTES;
  for (; at + size <= log.length; at += size) {
    if (!isOfLog(log, at)) break;
    addTo(sum, log, at, 8, magic === MAGIC);
    addTo(sum, log, at + FRAME_HEADER_BYTES, page, magic === MAGIC);
    if (!holds(log, at + 16, sum)) break;
  }
  return commitsAfter(log, at, size)
    ? `its log squad.db-wal is damaged at byte ${at}: later commits are lost`
    : undefined;
}

/** Whether a whole transaction is followed by another one: each is flushed before the next begins, so it was no torn end. */
function commitsAfter(log: Buffer, from: number, size: number): boolean {
  let isCommitted = false;
  for (let at = from; at + size <= log.length; at += size) {
    if (!isOfLog(log, at)) continue;
    if (isCommitted) return true;
    isCommitted = log.readUInt32BE(at + 4) !== 0;
  }
  return false;
}

/** With the salts of the header: not left by an earlier use of the file. */
function isOfLog(log: Buffer, frame: number): boolean {
  return log.compare(log, 16, 24, frame + 8, frame + 16) === 0;
}

function holds(log: Buffer, at: number, [first, second]: readonly [number, number]): boolean {
  return log.readUInt32BE(at) === first >>> 0 && log.readUInt32BE(at + 4) === second >>> 0;
}

function addTo(sum: [number, number], log: Buffer, from: number, bytes: number, isLittle: boolean): void {
  let [first, second] = sum;
  for (let at = from; at < from + bytes; at += 8) {
    first = (first + (isLittle ? log.readInt32LE(at) : log.readInt32BE(at)) + second) | 0;
    second = (second + (isLittle ? log.readInt32LE(at + 4) : log.readInt32BE(at + 4)) + first) | 0;
  }
  sum[0] = first;
  sum[1] = second;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    // SQLite cannot read it either, and reports why.
    if (errorCode(error) === undefined) throw error;
    return Buffer.alloc(0);
  }
}
