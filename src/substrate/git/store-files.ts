import { closeSync, fstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOfPath, type PlainFolder } from '../system/files/plain-folder.ts';
import { gitFailed, oneLine, type Git, type GitAnswer, type GitCall } from './git-call.ts';
import type { IndexEntry } from './index-file.ts';
import { LINK_MODE } from './raw-diff.ts';
import { asUnreadable, UnreadableFolder } from './unreadable-folder.ts';
import type { FoundFile } from './walk-folder.ts';

/** A file of a tree. */
export interface StoredFile {
  readonly path: string;
  readonly mode: string;
  readonly object: string;
}

export interface Store {
  readonly git: Git;
  readonly call: GitCall;
  /** For lists of files, and what links say. */
  readonly scratch: string;
  /** `core.fileMode` and `core.symlinks`. */
  readonly settings: { readonly fileMode: boolean; readonly symlinks: boolean };
}

/** So many files are open at once. */
const AT_ONCE = 48;
/** So many bytes are stored of a folder: more take git longer than it may. A hole in a file counts like the rest of it. */
const MOST_BYTES = 8 * 1024 ** 3;

/**
 * Stores the bytes of files as they are, without a filter or another conversion. git gets each as an open file: it opens no path in
 * the folder, where an agent may put a link meanwhile. Files that are gone by now are left out.
 */
export async function storeFiles(
  store: Store,
  files: PlainFolder,
  found: readonly FoundFile[],
): Promise<readonly StoredFile[]> {
  const stored: StoredFile[] = [];
  let bytes = 0;
  for (let from = 0; from < found.length; from += AT_ONCE) {
    const open: OpenFile[] = [];
    try {
      for (const file of found.slice(from, from + AT_ONCE)) {
        const opened = openOne(store, files, file, open.length);
        if (opened === undefined) continue;
        open.push(opened);
        bytes += opened.bytes;
        if (bytes > MOST_BYTES) throw new UnreadableFolder(tooLarge(file.path));
      }
      const objects = await hash(
        store,
        open.map(({ source }) => source),
      );
      for (const [index, { path, mode }] of open.entries()) stored.push({ path, mode, object: objects[index] ?? '' });
    } finally {
      for (const { descriptor } of open) if (descriptor !== undefined) closeSync(descriptor);
    }
  }
  return stored;
}

interface OpenFile {
  readonly path: string;
  readonly mode: string;
  readonly descriptor: number | undefined;
  readonly bytes: number;
  /** The path by which git reads it. */
  readonly source: string | Buffer;
}

function openOne(store: Store, files: PlainFolder, { path, kind, known }: FoundFile, at: number): OpenFile | undefined {
  try {
    if (kind === 'link') {
      const target = files.target(path);
      if (target === undefined) return undefined;
      const source = join(store.scratch, `link-${at}`);
      writeFileSync(source, target);
      return { path, mode: LINK_MODE, descriptor: undefined, bytes: target.length, source };
    }
    const descriptor = files.open(path);
    if (descriptor === undefined) return undefined;
    const found = fstatSync(descriptor);
    const mode = modeOf(store.settings, found.mode, known);
    return { path, mode, descriptor, bytes: found.size, source: files.pathOf(descriptor, path) };
  } catch (error) {
    throw asUnreadable(path, error);
  }
}

function modeOf({ fileMode, symlinks }: Store['settings'], mode: number, known: IndexEntry | undefined): string {
  if (!symlinks && known?.mode === LINK_MODE) return LINK_MODE;
  if (!fileMode) return known?.mode.startsWith('100') === true ? known.mode : '100644';
  return (mode & 0o100) === 0 ? '100644' : '100755';
}

async function hash({ git, call, scratch }: Store, sources: readonly (string | Buffer)[]): Promise<readonly string[]> {
  if (sources.length === 0) return [];
  const input = join(scratch, 'sources');
  writeFileSync(input, Buffer.concat(sources.flatMap((source) => [quoted(source), Buffer.from('\n')])));
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  // It gets open files only, and a cage does not show those of the engine.
  const { cage: _cage, ...open } = call;
  const answer = await git.run(args, { ...open, input });
  const objects = answer.stdout.split('\n').filter((line) => line !== '');
  if (answer.code !== 0 || objects.length !== sources.length) throw notStored(args, answer);
  return objects;
}

function tooLarge(path: string): string {
  return `with ${textOfPath(path)} its changed files have more than ${MOST_BYTES / 1024 ** 3} GiB`;
}

/** A full disk is no one's fault; all else is the folder's. */
export function notStored(args: readonly string[], answer: GitAnswer): Error {
  const failed = gitFailed(args, answer);
  return failed.code.startsWith('storage-')
    ? failed
    : new UnreadableFolder(answer.problem ?? (oneLine(answer.stderr) || 'git did not store its files'));
}

/** As git reads a line: a path with a line break stands in quotes. */
function quoted(source: string | Buffer): Buffer {
  const bytes = Buffer.from(source);
  if (!bytes.includes(0x0a) && bytes[0] !== 0x22) return bytes;
  const escaped = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
  return Buffer.from(`"${escaped}"`);
}
