/** A path of git's index. Names are bytes: one character for each. */
export interface IndexEntry {
  readonly path: string;
  /** Its place among all entries, from 0. */
  readonly order: number;
  /** As in a tree: `100644`, `100755`, `120000`, `160000`. */
  readonly mode: string;
  readonly object: string;
  /** A sparse checkout leaves it out. */
  readonly skipped: boolean;
  /** Where its data begins in the file, and where the next one's does. */
  readonly at: number;
  readonly end: number;
}

export interface IndexFile {
  readonly bytes: Buffer;
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** The folders that hold files of it, and those above them, each with its files by name. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, IndexEntry>>;
  /** The tree that it is, if it says so. */
  readonly tree: string | undefined;
}

const HEADER = 12;
const STAT = 40;
const LONG_NAME = 0xfff;
const SECOND = 1_000_000_000n;

/**
 * An index that the engine's git wrote (version 2 or 3); undefined: another version, or a merge that is not over. `has`: which files a
 * sparse checkout does not leave out.
 */
export function parseIndex(bytes: Buffer, idLength: number, has?: (path: string) => boolean): IndexFile | undefined {
  if (bytes.length < HEADER || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  const entries = new Map<string, IndexEntry>();
  let at = HEADER;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const named = at + STAT + idLength;
    const flags = bytes.readUInt16BE(named);
    if ((flags & 0x3000) !== 0) return undefined;
    const isExtended = (flags & 0x4000) !== 0;
    const start = named + (isExtended ? 4 : 2);
    const short = flags & LONG_NAME;
    const end = short < LONG_NAME ? start + short : bytes.indexOf(0, start);
    const path = bytes.toString('latin1', start, end);
    // At least one zero byte, to a multiple of eight.
    const next = at + ((end - at + 8) & ~7);
    entries.set(path, {
      path,
      order: entries.size,
      mode: bytes.readUInt32BE(at + 24).toString(8),
      object: bytes.toString('hex', at + STAT, named),
      skipped: (isExtended && (bytes.readUInt16BE(named + 2) & 0x4000) !== 0) || has?.(path) === false,
      at,
      end: next,
    });
    at = next;
  }
  return { bytes, entries, folders: foldersOf(entries.values()), tree: treeOf(bytes, at, idLength) };
}

function foldersOf(entries: Iterable<IndexEntry>): IndexFile['folders'] {
  const folders = new Map<string, Map<string, IndexEntry>>();
  /** Makes it, and those above it. */
  const filesIn = (folder: string): Map<string, IndexEntry> => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const files = new Map<string, IndexEntry>();
    folders.set(folder, files);
    const end = folder.lastIndexOf('/');
    if (folder !== '') filesIn(folder.slice(0, Math.max(end, 0)));
    return files;
  };
  let [last, files] = ['', filesIn('')];
  for (const entry of entries) {
    const end = Math.max(entry.path.lastIndexOf('/'), 0);
    // The files of a folder come one after the other.
    if (end !== last.length || !entry.path.startsWith(last)) {
      last = entry.path.slice(0, end);
      files = filesIn(last);
    }
    files.set(entry.path.slice(end === 0 ? 0 : end + 1), entry);
  }
  return folders;
}

/** The first record of the extension `TREE`: an empty name, the number of entries and folders, and the id of the tree. */
function treeOf(bytes: Buffer, start: number, idLength: number): string | undefined {
  for (let at = start; at + 8 <= bytes.length - idLength;) {
    const [name, size] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32BE(at + 4)];
    if (name === 'TREE') {
      const end = bytes.indexOf(0x0a, at + 8);
      const counts = /^\0(\d+) \d+$/.exec(bytes.toString('latin1', at + 8, end));
      return counts === null ? undefined : bytes.toString('hex', end + 1, end + 1 + idLength);
    }
    at += 8 + size;
  }
  return undefined;
}

/** An index with some entries of another one, in its order. git does not check its checksum. */
export function cutIndex({ bytes }: IndexFile, entries: readonly IndexEntry[], idLength: number): Buffer {
  const header = Buffer.from(bytes.subarray(0, HEADER));
  header.writeUInt32BE(entries.length, 8);
  return Buffer.concat([header, ...entries.map(({ at, end }) => bytes.subarray(at, end)), Buffer.alloc(idLength)]);
}

/** The second of a time, as an index has it. */
export function secondOf(time: bigint): number {
  return Number((time / SECOND) & 0xffff_ffffn);
}

/** The file was written in the second in which the index was, or later: git would read it. */
export function isOfThatSecond({ bytes }: IndexFile, { at }: IndexEntry, written: number): boolean {
  return bytes.readUInt32BE(at + 8) >= written;
}

export interface FileState {
  readonly mode: bigint;
  readonly ino: bigint;
  readonly uid: bigint;
  readonly gid: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

const EXECUTABLE = 0o100n;

/**
 * The file is what git wrote there, by all that the system says of it. `written`: when the index was; a file of that moment or a
 * later one may have been changed right after it, with equal times.
 */
export function isAsWritten(
  { bytes }: IndexFile,
  { at, mode }: IndexEntry,
  found: FileState,
  written: bigint,
  fileMode: boolean,
): boolean {
  const number = (field: number): number => bytes.readUInt32BE(at + field * 4);
  if (found.mtimeNs >= written || Number(found.size & 0xffff_ffffn) !== number(9)) return false;
  if (fileMode && mode !== '120000' && ((found.mode & EXECUTABLE) !== 0n) !== (mode === '100755')) return false;
  const isTime = (time: bigint, field: number): boolean =>
    secondOf(time) === number(field) && Number(time % SECOND) === number(field + 1);
  const isOwner = Number(found.uid) === number(7) && Number(found.gid) === number(8);
  return (
    isTime(found.ctimeNs, 0) && isTime(found.mtimeNs, 2) && Number(found.ino & 0xffff_ffffn) === number(5) && isOwner
  );
}
