import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sizeOf } from './database-file.ts';
import { databaseError, isFull } from './sqlite-errors.ts';

/** Room to record a pause on a full disk, where SQLite cannot even checkpoint. */
const BALLAST_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** The file also proves that the database next to it existed, so it is emptied, never removed. */
export function ballastPath(databasePath: string): string {
  return join(dirname(databasePath), 'ballast');
}

/** Fills the ballast with bytes that no filesystem can compress. On a full disk it stays empty until a later start. */
export function fillBallast(databasePath: string, bytes: number = BALLAST_BYTES): void {
  const path = ballastPath(databasePath);
  if (sizeOf(path) >= bytes) return;
  const temporary = `${path}.${process.pid}.new`;
  try {
    writeBytes(temporary, bytes);
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(path, { recursive: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (!isFull(databaseError(path, error))) throw databaseError(path, error);
    closeSync(openSync(path, 'a', 0o600));
  }
}

/** Gives the room back. Does nothing where there is no ballast. */
export function freeBallast(databasePath: string): void {
  const path = ballastPath(databasePath);
  if (sizeOf(path) > 0) truncateSync(path, 0);
}

function writeBytes(path: string, bytes: number): void {
  const chunk = randomFillSync(Buffer.alloc(Math.min(CHUNK_BYTES, bytes)));
  const file = openSync(path, 'w', 0o600);
  try {
    for (let written = 0; written < bytes; written += chunk.length) {
      if (writeSync(file, chunk) < chunk.length) throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
