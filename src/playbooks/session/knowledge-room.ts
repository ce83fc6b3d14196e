import type { FolderFile } from '../../model/folder.ts';
import type { SessionStart } from './session.ts';

// squad reads what it has written, at the next run: 1 MiB of a file, 32 MiB in all and 10,000 entries of a folder.

const KIB = 1024;
export const MOST_READ = KIB * KIB;
/** Characters of all files together. */
export const MOST_READ_OF_ALL = 32 * KIB * KIB;
/** Bytes that tasks bring a file to. */
export const MOST_OF_FILE = 900 * KIB;
/** Bytes of all task files, including those found at the start. Shared files are counted separately. */
const MOST_OF_ALL = 24 * KIB * KIB;
/** Bytes by which the shared files may grow together. The rest is for `team-session.json`. */
const MOST_SHARED = MOST_READ_OF_ALL - MOST_OF_ALL - MOST_READ;
/** Three files of wisdom, and two of JSON, which may also grow by being indented. */
const SHARES = 3 + 2 * 2;
/** Files in one folder, including those found at the start. */
const MOST_FILES = 9_000;

type Folder = 'artifacts' | 'discussions' | 'explorations';

export interface OwnFiles {
  /** The oldest stay. */
  readonly files: readonly FolderFile[];
  /** How many there was no room for, by folder. */
  readonly leftOut: ReadonlyMap<Folder, number>;
  /** Returns false if the file was skipped. `fits`: there is room for its index entry. */
  readonly add: (file: { folder: Folder; name: string; text: string }, fits?: boolean) => boolean;
}

/** The files that are of one task each, as many as there is room for. */
export function ownFiles({ artifacts, discussions, explorations, size = 0 }: SessionStart): OwnFiles {
  const files: FolderFile[] = [];
  const leftOut = new Map<Folder, number>();
  const counts = {
    artifacts: artifacts.length,
    discussions: discussions.length,
    explorations: explorations.files.length,
  };
  let room = MOST_OF_ALL - size;
  const add: OwnFiles['add'] = ({ folder, name, text }, fits = true) => {
    const bytes = Buffer.byteLength(text);
    if (!fits || bytes > Math.min(room, MOST_OF_FILE) || counts[folder] >= MOST_FILES) {
      leftOut.set(folder, (leftOut.get(folder) ?? 0) + 1);
      return false;
    }
    room -= bytes;
    counts[folder] += 1;
    files.push({ path: `${folder}/${name}`, text });
    return true;
  };
  return { files, leftOut, add };
}

/** Bytes that each file may grow by that all tasks share. */
export function sharedRoom({ size = 0 }: SessionStart): number {
  return Math.max(0, MOST_SHARED - Math.max(0, size - MOST_OF_ALL)) / SHARES;
}

export interface NewestTexts {
  /** Oldest first. */
  readonly texts: readonly string[];
  readonly leftOut: () => number;
  readonly add: (text: string) => void;
}

/** The newest of these texts, beside one that stays. `most`: bytes that they may take. */
export function newestTexts(beside: string, most: number): NewestTexts {
  const texts: string[] = [];
  let room = Math.min(most, MOST_OF_FILE - Buffer.byteLength(beside));
  let leftOut = 0;
  const add = (text: string): void => {
    texts.push(text);
    room -= Buffer.byteLength(text);
    while (room < 0) {
      const oldest = texts.shift();
      if (oldest === undefined) return;
      room += Buffer.byteLength(oldest);
      leftOut += 1;
    }
  };
  return { texts, leftOut: () => leftOut, add };
}

export interface NewestLines {
  /** By key, each at the place where it first stood. */
  readonly lines: ReadonlyMap<string, string>;
  readonly isChanged: () => boolean;
  readonly put: (key: string, line: string) => void;
}

/** The newest line of each key: those of the start, and the newest of the others. `most`: bytes that they may grow by. */
export function newestLines(start: Iterable<readonly [string, string]>, most: number): NewestLines {
  const lines = new Map(start);
  /** Keys that were put, the oldest first. */
  const own = new Set<string>();
  const bytesOf = (key: string): number => Buffer.byteLength(lines.get(key) ?? '') + 2;
  let room = MOST_OF_FILE;
  for (const key of lines.keys()) room -= bytesOf(key);
  room = Math.min(room, most);
  let isChanged = false;
  const put = (key: string, line: string): void => {
    if (lines.has(key)) room += bytesOf(key);
    isChanged = true;
    lines.set(key, line);
    own.delete(key);
    own.add(key);
    room -= bytesOf(key);
    for (const oldest of own) {
      if (room >= 0) break;
      room += bytesOf(oldest);
      lines.delete(oldest);
      own.delete(oldest);
    }
  };
  return { lines, isChanged: () => isChanged, put };
}

/** None that squad could not read again: what the file held leaves no room, and it stays as it was. */
export function readable(path: string, text: string): FolderFile[] {
  return Buffer.byteLength(text) > MOST_READ ? [] : [{ path, text }];
}
