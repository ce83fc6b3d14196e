import { chmodSync, closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { newestBackup } from './backup-files.ts';
import { corruptDatabase } from './sqlite-errors.ts';

/** Facts in the first 100 bytes of a SQLite file (sqlite.org/fileformat2.html §1.3), read without SQLite touching it. */
export interface DatabaseHeader {
  readonly userVersion: number;
  readonly applicationId: number;
  /** Bytes the file should have, by its own header. The write-ahead log may know of more. */
  readonly bytes: number;
}

const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** Whether the file has to be made. Throws `database-corrupt` if it is gone but a log, a backup or a trace shows that it held data. */
export function isFreshFile(path: string, traces: readonly string[]): boolean {
  // Traces first, size second: another process may be making the file now, and makes it before it leaves a trace.
  const trace = sizeOf(`${path}-wal`) > 0 ? `${path}-wal` : findRemains(path, traces);
  if (sizeOf(path) > 0) return false;
  if (trace === undefined) return true;
  throw corruptDatabase(
    path,
    `the file is ${existsSync(path) ? 'empty' : 'missing'}, but ${trace} shows that it held data.`,
  );
}

/** A file that exists only if the database held data: one of `traces`, or a backup. */
export function findRemains(path: string, traces: readonly string[]): string | undefined {
  return traces.find((trace) => existsSync(trace)) ?? newestBackup(path);
}

/** Makes an absent file with mode 0600, which SQLite copies to its -wal and -shm; tightens an existing one. */
export function secureFile(path: string): void {
  try {
    // `x`: closing a descriptor of a file that SQLite has open in this process would drop SQLite's locks on it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

/**
 * Throws `database-corrupt` if the file is no database, or cut short without a write-ahead log. Never call it while this process has
 * the file open in SQLite: its close would drop SQLite's locks.
 */
export function readHeader(path: string): DatabaseHeader {
  const bytes = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  const header = parseHeader(bytes);
  if (header === undefined) throw corruptDatabase(path, 'the file is not a SQLite database.');
  // Log first, size second: another process that closes writes the log back into the file, then removes the log.
  if (sizeOf(`${path}-wal`) === 0 && sizeOf(path) < header.bytes) {
    throw corruptDatabase(path, `the file is cut short: ${sizeOf(path)} of ${header.bytes} bytes.`);
  }
  return header;
}

/** undefined: not the header of a SQLite database. */
function parseHeader(bytes: Buffer): DatabaseHeader | undefined {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 16) !== MAGIC) return undefined;
  const stored = bytes.readUInt16BE(16);
  const pageSize = stored === 1 ? 65_536 : stored;
  return {
    userVersion: bytes.readInt32BE(60),
    applicationId: bytes.readInt32BE(68),
    bytes: pageSize * bytes.readUInt32BE(28),
  };
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
