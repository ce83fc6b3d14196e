import { appendFile, lstat, mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readPlain } from './read-plain.ts';
import { writeWhole } from './run-files.ts';
import { storageError } from '../../../model/storage-error.ts';
import { fieldsOf } from '../../../text/json.ts';

/** By path, the hashes of the files that squad wrote into a person's folder, and of those that it was writing when it was killed. */
export interface HashLog {
  readonly paths: Iterable<string>;
  has(path: string, hash: string): boolean;
  /** squad has written the file: what was there before is not there any more. */
  isWritten(path: string): boolean;
  /** The file was written with this hash, and nothing was begun since. */
  isCurrent(path: string, hash: string): boolean;
  /** Nothing was begun since it was written. */
  isSettled(path: string): boolean;
  /** squad is about to write them. They are on the disk when it returns. */
  add(entries: readonly HashEntry[]): Promise<void>;
  /** squad has written them: older hashes of theirs are none of its own any more. */
  confirm(entries: readonly HashEntry[]): Promise<void>;
}

export interface HashEntry {
  readonly path: string;
  readonly sha256: string;
}

/** A shorter log is not worth writing anew. */
const MOST_LINES = 2_000;

export async function openHashLog(file: string): Promise<HashLog> {
  const known = new Map<string, Set<string>>();
  const written = new Map<string, string>();
  const learn = ({ path, sha256 }: HashEntry): void => {
    known.set(path, (known.get(path) ?? new Set()).add(sha256));
  };
  const settle = ({ path, sha256 }: HashEntry): void => {
    known.set(path, new Set([sha256]));
    written.set(path, sha256);
  };
  const has = (path: string, hash: string): boolean => known.get(path)?.has(hash) === true;
  // Writing to a pipe in its place would block for ever.
  const found = await lstat(file).catch(() => undefined);
  if (found !== undefined && !found.isFile() && !found.isDirectory()) await rm(file);
  const lines = (await readPlain(file).catch(() => '')).split('\n');
  for (const line of lines) {
    // A crash cuts the last line.
    const { path, sha256, written: isThere } = fieldsOf(line);
    if (typeof path !== 'string' || typeof sha256 !== 'string') continue;
    (isThere === true ? settle : learn)({ path, sha256 });
  }
  if (lines.length > Math.max(MOST_LINES, known.size * 8)) await writeWhole(file, shortened(known, written));
  return {
    get paths() {
      return known.keys();
    },
    has,
    isWritten: (path) => written.has(path),
    isCurrent: (path, hash) => written.get(path) === hash && known.get(path)?.size === 1,
    isSettled: (path) => written.has(path) && known.get(path)?.size === 1,
    add: async (entries) => {
      const fresh = entries.filter(({ path, sha256 }) => !has(path, sha256));
      if (fresh.length === 0) return;
      const lines = fresh.map(({ path, sha256 }) => JSON.stringify({ path, sha256 }));
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        // The first line ends one that was cut.
        await appendFile(file, ['', ...lines, ''].join('\n'), { mode: 0o600, flush: true });
      } catch (error) {
        throw storageError(file, error);
      }
      fresh.forEach(learn);
    },
    confirm: async (entries) => {
      const fresh = entries.filter(({ path, sha256 }) => written.get(path) !== sha256 || known.get(path)?.size !== 1);
      const lines = fresh.map(({ path, sha256 }) => JSON.stringify({ path, sha256, written: true }));
      // Without these lines, the next engine takes older files of squad's for its own too.
      if (lines.length > 0) await appendFile(file, ['', ...lines, ''].join('\n')).catch(() => undefined);
      fresh.forEach(settle);
    },
  };
}

/** Lines that say the same: the hash that a file was written with first, then what was begun since. */
function shortened(known: ReadonlyMap<string, ReadonlySet<string>>, written: ReadonlyMap<string, string>): string {
  const lines = [...known].flatMap(([path, hashes]) => {
    const last = written.get(path);
    const begun = [...hashes].filter((sha256) => sha256 !== last).map((sha256) => ({ path, sha256 }));
    return last === undefined ? begun : [{ path, sha256: last, written: true }, ...begun];
  });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
