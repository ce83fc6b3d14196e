import { hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isSquadError } from '../../../model/errors.ts';
import { errorCode, storageError } from '../../../model/storage-error.ts';
import { filesOf } from '../backup-files.ts';
import { makeSynced, syncFile } from '../../system/files/sync.ts';
import { corruptDatabase } from '../sqlite-errors.ts';
import type { Store } from '../store.ts';
import { mailById } from './rows.ts';

const FOLDER = 'blobs';

interface BodyFile {
  /** Path below the workspace's folder. */
  readonly ref: string;
  readonly digest: string;
}

/**
 * Writes a long body to a file, synced before the transaction that names it commits. Called within that transaction, so that no
 * other process writes or sweeps this folder meanwhile. After a crash in between, the next sweep removes the file.
 */
export function writeBody(store: Store, id: string, body: string): BodyFile {
  const folder = folderOf(store);
  makeSynced(folder);
  const path = join(folder, fileName(id));
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    const bytes = Buffer.from(body);
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFile(folder);
  return { ref: `${FOLDER}/${fileName(id)}`, digest: digestOfBody(body) };
}

/** Finds the file by the message's id, never by a stored path. Throws `database-corrupt` for a changed or missing file. */
export function readBody(store: Store, id: string): string {
  const row = mailById(store, id);
  if (row === undefined || row.body_ref === null) return row?.body ?? '';
  const path = join(folderOf(store), fileName(id));
  const found = bodyAt(path);
  if (typeof found !== 'string' && digestOfBody(found.text) === row.digest) return found.text;
  throw corruptDatabase(path, `the body of message ${row.seq} is ${typeof found === 'string' ? found : 'damaged'}.`);
}

/** Reads no named pipe, which would wait for ever. Throws the cause where the disk refuses to read a file. */
function bodyAt(path: string): { readonly text: string } | 'gone' | 'not a file' {
  try {
    if (!statSync(path).isFile()) return 'not a file';
    return { text: readFileSync(path, 'utf8') };
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR|ELOOP)$/.test(errorCode(error) ?? '')) return 'gone';
    throw storageError(path, error);
  }
}

interface DamagedBody {
  /** Below the workspace's folder. */
  readonly file: string;
  readonly problem: string;
}

/** The messages whose bodies are not there as they were sent, at most 20. */
export function damagedBodies(store: Store): DamagedBody[] {
  return namedBodies(store)
    .flatMap(({ id }) => {
      try {
        readBody(store, id);
        return [];
      } catch (error) {
        if (!isSquadError(error) || error.code !== 'database-corrupt') throw error;
        return [{ file: join(FOLDER, fileName(id)), problem: error.message }];
      }
    })
    .slice(0, 20);
}

/** Throws `database-corrupt` for the first message of a run whose body is not there as it was sent. */
export function requireBodies(store: Store, runId: string): void {
  for (const { id } of namedBodies(store, runId)) readBody(store, id);
}

/** The files that messages name, by their paths below the workspace's folder. */
export function bodyFiles(store: Store): string[] {
  return namedBodies(store).map(({ id }) => join(FOLDER, fileName(id)));
}

function namedBodies(store: Store, runId?: string): { id: string }[] {
  const sql = 'SELECT id FROM mail WHERE body_ref IS NOT NULL AND run_id IS coalesce(?, run_id) ORDER BY seq';
  return store.all<{ id: string }>(sql, runId ?? null);
}

/** Within a write transaction: removes files that no message names. */
export function sweepBodies(store: Store): void {
  const folder = folderOf(store);
  for (const name of ifThere(() => readdirSync(folder)) ?? []) {
    const row = name.endsWith('.json') ? mailById(store, name.slice(0, -'.json'.length)) : undefined;
    if (row?.body_ref === null || row === undefined) rmSync(join(folder, name), { recursive: true });
  }
}

/** Those of a backup are beside it. */
function folderOf({ db }: Store): string {
  const own = join(filesOf(db.name), FOLDER);
  return existsSync(own) ? own : join(dirname(db.name), FOLDER);
}

/** Safe as a file name: an id is made of a UUID and two numbers. */
function fileName(id: string): string {
  return `${id}.json`;
}

function digestOfBody(body: string): string {
  return hash('sha256', body, 'hex');
}

/** undefined: the file or folder does not exist, or is no folder. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR)$/.test(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
