import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlainFolder } from '../system/files/plain-folder.ts';
import type { GitCall } from './git-call.ts';
import type { GitContext } from './git-context.ts';
import { openIgnoreRules } from './ignore-rules.ts';
import { findChanged, type OwnIndex } from './find-changed.ts';
import { parseIndex, type IndexEntry, type IndexFile } from './index-file.ts';
import { REPOSITORY_MODE } from './raw-diff.ts';
import { notStored, storeFiles, type StoredFile } from './store-files.ts';
import { copiesOfRun, refuseCopies, withoutCopies } from './known-copies.ts';
import type { Cone } from '../../text/cone.ts';
import { createSettledFolders, hasExactTimes, NONE_SETTLED } from './settled-folders.ts';
import { UnreadableFolder } from './unreadable-folder.ts';
import { walkFolder, type FolderFindings, type FoundFile } from './walk-folder.ts';

/** A folder, and the repository that its files are read into. */
export interface Place {
  readonly folder: string;
  readonly call: GitCall;
  /** An index of the engine, which agents cannot write. It saves reading unchanged files. */
  readonly index?: string;
  readonly commit: string;
  /** The tree of `commit`. */
  readonly tree: string;
  /** The files that a sparse checkout leaves there. A commit that is not in the index has files outside of it, which no one has deleted. */
  readonly cone?: Cone | undefined;
}

type TreeAnswer =
  | { readonly type: 'tree'; readonly tree: string }
  | { readonly type: 'unreadable'; readonly reason: string };

/**
 * All files of a folder as a tree, except ignored ones. No git runs in the folder or looks for anything there: the engine walks
 * through it, and git stores the bytes of open files, as they are.
 */
export async function readTree(context: GitContext, place: Place): Promise<TreeAnswer> {
  return withLook(context, place, async (look) => {
    const found = await walkFolder(look.walk);
    return { type: 'tree', tree: await storeTree(context, look, found) };
  });
}

/** Unlike `readTree`, also reports repositories whose HEAD cannot be read. */
export async function findChanges(
  context: GitContext,
  place: Place,
): Promise<FolderFindings | Extract<TreeAnswer, { type: 'unreadable' }>> {
  return withLook(context, place, async (look) => walkFolder({ ...look.walk, anyRepository: true }));
}

/** Only what is ignored: no file of the commit is compared. */
export async function findIgnoredPaths(context: GitContext, place: Place): Promise<FolderFindings['ignored']> {
  const found = await withLook(context, place, async ({ walk }) =>
    walkFolder({ ...walk, changedOf: async () => [], anyRepository: true }),
  );
  return 'type' in found ? [] : found.ignored;
}

/** A tree with further files of a folder. */
export async function treeWith(
  context: GitContext,
  place: Omit<Place, 'index'>,
  files: readonly FoundFile[],
): Promise<TreeAnswer> {
  return withLook(context, { ...place, commit: place.tree }, async (look) => {
    const nothing = {
      gone: [],
      repositories: new Map<string, string>(),
      newRepositories: [],
      ignored: [],
      folders: [],
      others: [],
    };
    return { type: 'tree', tree: await storeTree(context, look, { ...nothing, files }) };
  });
}

interface Look {
  readonly place: Place;
  /** A folder of the engine's: `index`, lists, and `stage`, where git thinks that the files are. */
  readonly scratch: string;
  readonly call: GitCall;
  readonly settings: FileSettings;
  readonly copies: Awaited<ReturnType<typeof copiesOfRun>>;
  readonly walk: Parameters<typeof walkFolder>[0];
  /** Puts the engine's index at `index`, where git changes it. */
  copy(): void;
}

async function withLook<T>(
  context: GitContext,
  place: Place,
  work: (look: Look) => Promise<T>,
): Promise<T | Extract<TreeAnswer, { type: 'unreadable' }>> {
  const scratch = join(context.temporary, `look-${randomUUID()}`);
  try {
    return await work(await openLook(context, place, scratch));
  } catch (error) {
    if (error instanceof UnreadableFolder) return { type: 'unreadable', reason: error.message };
    throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function openLook(context: GitContext, place: Place, scratch: string): Promise<Look> {
  const { git } = context;
  const stage = join(scratch, 'stage');
  mkdirSync(stage, { recursive: true, mode: 0o700 });
  const index = join(scratch, 'index');
  const call = { ...place.call, workTree: stage, index };
  const own = readIndex(place.index, place.commit, place.cone);
  const settings = await fileSettings(context);
  const file = own?.file.tree === place.tree ? own.file : await readCommit();
  const copies = await copiesOfRun(place.call.gitDirectory);
  const walk: Look['walk'] = {
    folder: place.folder,
    entries: file.entries,
    folders: file.folders,
    changedOf: async (files, present) =>
      own === undefined
        ? present
        : findChanged({ git, call, scratch, folder: place.folder, settings }, own, files, present),
    settled: file === own?.file && hasExactTimes(place.folder) ? own.settled : NONE_SETTLED,
    rules: async (files) =>
      withoutCopies(
        await openIgnoreRules({ git, call, stage }, files, (path) => leftOut(file.entries.get(path))),
        copies,
      ),
    anyRepository: false,
    settings,
  };
  // The copy of a large index takes long, and most looks find that nothing has changed.
  const copy = (): void => {
    if (own !== undefined && file === own.file) writeFileSync(index, own.file.bytes);
  };
  return { place, scratch, call, settings, walk, copies, copy };

  async function readCommit(): Promise<IndexFile> {
    if (own !== undefined) writeFileSync(index, own.file.bytes);
    // `-i`: git looks at no file.
    const args = ['read-tree', ...(own === undefined ? [] : ['-i', '-m']), place.commit];
    const read = await git.run(args, call);
    if (read.code !== 0) throw notStored(args, read);
    const parsed = readIndex(index, place.commit, place.cone)?.file;
    if (parsed === undefined) throw new UnreadableFolder(`the files of ${place.commit} cannot be listed`);
    return parsed;
  }
  async function leftOut(entry: IndexEntry | undefined): Promise<Buffer | undefined> {
    return entry?.skipped === true ? Buffer.from(await git.text(['cat-file', 'blob', entry.object], call)) : undefined;
  }
}

/** By checksum and time. A folder is looked at several times after a turn, and it takes long to understand a large index. */
const lastRead = new Map<string, OwnIndex>();
/** All indexes that are kept have so many together; the newest one stays in any case. */
const MOST_ENTRIES = 50_000;

/** undefined: there is none that can be read. `commit`: any, for the length of its ids. */
export function readIndex(path: string | undefined, commit: string, cone?: Cone): OwnIndex | undefined {
  try {
    if (path === undefined) return undefined;
    // Before its content: a newer one would count as older.
    const { mtimeNs: written } = statSync(path, { bigint: true });
    const bytes = readFileSync(path);
    const checksum = bytes.toString('hex', bytes.length - commit.length / 2);
    const key = `${checksum} ${written} ${cone?.patterns ?? ''}`;
    const known = lastRead.get(key);
    if (known !== undefined) return { ...known, path };
    const file = parseIndex(bytes, commit.length / 2, cone?.has);
    if (file === undefined) return undefined;
    const own = { path, file, written, settled: createSettledFolders() };
    // git writes zeros where a setting spares it the checksum.
    if (/[^0]/.test(checksum)) lastRead.set(key, own);
    forgetOldest();
    return own;
  } catch {
    // Without an index every file is read, which is slower but right.
    return undefined;
  }
}

function forgetOldest(): void {
  let entries = 0;
  for (const { file } of lastRead.values()) entries += file.entries.size;
  for (const [key, { file }] of lastRead) {
    if (entries <= MOST_ENTRIES || lastRead.size === 1) return;
    lastRead.delete(key);
    entries -= file.entries.size;
  }
}

async function storeTree({ git }: GitContext, look: Look, found: FolderFindings): Promise<string> {
  const { place, scratch, call, settings, walk } = look;
  const files = openPlainFolder(place.folder);
  refuseCopies(files, found.files, look.copies);
  const stored = await storeFiles({ git, call, scratch, settings }, files, found.files);
  const there = new Set(stored.map(({ path }) => path));
  const gone = [
    ...found.gone,
    ...found.files.flatMap(({ path, known }) => (known === undefined || there.has(path) ? [] : [path])),
  ];
  const isNew = ({ path, mode, object }: StoredFile): boolean => {
    const entry = walk.entries.get(path);
    return entry?.mode !== mode || entry.object !== object;
  };
  const lines = [
    ...gone.map((path) => `0 ${'0'.repeat(place.commit.length)}\t${path}\0`),
    ...stored.filter((file) => isNew(file)).map(({ path, mode, object }) => `${mode} ${object}\t${path}\0`),
    ...[...found.repositories].map(([path, commit]) => `${REPOSITORY_MODE} ${commit}\t${path}\0`),
  ];
  if (lines.length === 0) return place.tree;
  look.copy();
  const input = join(scratch, 'changes');
  writeFileSync(input, lines.join(''), 'latin1');
  const update = ['update-index', '-z', '--index-info'];
  const updated = await git.run(update, { ...call, input });
  if (updated.code !== 0) throw notStored(update, updated);
  const written = await git.run(['write-tree'], call);
  if (written.code !== 0) throw notStored(['write-tree'], written);
  return written.stdout.trim();
}

/** How the user's git sees files here. */
interface FileSettings {
  readonly fileMode: boolean;
  readonly symlinks: boolean;
  readonly ignoreCase: boolean;
  readonly precompose: boolean;
}

async function fileSettings(context: GitContext): Promise<FileSettings> {
  const entries = await context.userConfiguration();
  const isOn = (name: string, otherwise: boolean): boolean => {
    const value = entries.findLast(({ key }) => key === `core.${name}`)?.value.toLowerCase();
    return value === undefined ? otherwise : !['false', 'no', 'off', '0', ''].includes(value);
  };
  return {
    fileMode: isOn('filemode', true),
    symlinks: isOn('symlinks', true),
    ignoreCase: isOn('ignorecase', false),
    precompose: isOn('precomposeunicode', false),
  };
}
