import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { movedError, movedMarkSchema, type MovedMark } from '../../model/moved-mark.ts';
import { storageError } from '../../model/storage-error.ts';
import { readPlainSync } from '../system/files/read-plain.ts';
import { syncFile } from '../system/files/sync.ts';
import { parseJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';

const MARK = 'moved.json';

/** undefined: the runs of this folder were never moved. Throws for a mark that cannot be read: it may say that they are elsewhere. */
export function readMark(directory: string): MovedMark | undefined {
  const path = join(directory, MARK);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  let mark: MovedMark | undefined;
  try {
    mark = movedMarkSchema.safeParse(parseJson(readPlainSync(path))).data;
  } catch (error) {
    throw storageError(path, error);
  }
  if (mark !== undefined) return mark;
  throw wrongEnvironment(
    `${plainLine(path, 500)} cannot be read, so the runs of this repository may be on another machine`,
    'Look for an engine there first. If there is none, remove this file.',
  );
}

/** It is on the disk when this returns. */
export function writeMark(directory: string, mark: MovedMark): void {
  const path = join(directory, MARK);
  const fresh = `${path}.${process.pid}.new`;
  try {
    rmSync(fresh, { force: true });
    writeFileSync(fresh, `${JSON.stringify(mark)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    renameSync(fresh, path);
    syncFile(dirname(path));
  } catch (error) {
    throw storageError(path, error);
  }
}

export function removeMark(directory: string): void {
  try {
    rmSync(join(directory, MARK), { force: true });
    syncFile(directory);
  } catch (error) {
    throw storageError(join(directory, MARK), error);
  }
}

/** Throws, with where they are, if the runs of this folder are not here. */
export function refuseMoved(directory: string): void {
  // Before each write of the ledger.
  if (lstatSync(join(directory, MARK), { throwIfNoEntry: false }) === undefined) return;
  const mark = readMark(directory);
  const error = mark && movedError(mark);
  if (error !== undefined) throw error;
}
