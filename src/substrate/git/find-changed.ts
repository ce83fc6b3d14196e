import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlainFolder } from '../system/files/plain-folder.ts';
import type { Git, GitCall } from './git-call.ts';
import { cutIndex, isAsWritten, isOfThatSecond, secondOf, type IndexEntry, type IndexFile } from './index-file.ts';
import type { SettledFolders } from './settled-folders.ts';
import { notStored } from './store-files.ts';
import { asUnreadable } from './unreadable-folder.ts';

/** The engine's index of a folder. */
export interface OwnIndex {
  readonly path: string;
  readonly file: IndexFile;
  readonly written: bigint;
  readonly settled: SettledFolders;
}

interface Look {
  readonly git: Git;
  readonly call: GitCall;
  readonly scratch: string;
  readonly folder: string;
  readonly settings: { readonly fileMode: boolean };
}

/** More files than these are compared by git, which does it faster and beside the engine. */
const FEW = 2000;
const SLICE = 500;

/**
 * The files that are not as the engine wrote them, by what the system says of them. They are there, and are what their entry says:
 * files or links. git gets an index of such files alone, so that it meets no folder and no repository.
 */
export async function findChanged(
  look: Look,
  own: OwnIndex,
  files: PlainFolder,
  present: readonly IndexEntry[],
): Promise<readonly IndexEntry[]> {
  const [changed, known]: [IndexEntry[], IndexEntry[]] = [[], []];
  for (const entry of present) {
    // The index may be of another commit than the one looked at.
    const old = own.file.entries.get(entry.path);
    if (old?.object === entry.object && old.mode === entry.mode) known.push(old);
    else changed.push(entry);
  }
  const isMany = known.length > FEW;
  const written = secondOf(own.written);
  const isRecent = (old: IndexEntry): boolean => isOfThatSecond(own.file, old, written);
  const byHand = isMany ? known.filter(isRecent) : known;
  const [before, began] = [changed.length, Date.now()];
  for (const [at, old] of byHand.entries()) {
    if (!isUnchanged(look, own, files, old)) changed.push(old);
    if (at % SLICE === SLICE - 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isMany) return changed;
  if (byHand.length > 0 && changed.length === before) outliveSecond(own, began);
  const rest = byHand.length === 0 ? known : known.filter((old) => !isRecent(old));
  const found = await askGit(look, own, rest);
  return found.size === 0 ? changed : [...changed, ...rest.filter(({ path }) => found.has(path))];
}

/**
 * git reads a file again that is as old as the index. All of these were looked at to the nanosecond since `began`, and whatever
 * changes one from then on gives it a later second: with an index of the next second, git does it by a look too.
 */
function outliveSecond({ path, written }: OwnIndex, began: number): void {
  const next = secondOf(written) + 1;
  if (began < next * 1000) return;
  try {
    utimesSync(path, next, next);
  } catch {
    // The next look takes as long as this one.
  }
}

function isUnchanged({ settings }: Look, own: OwnIndex, files: PlainFolder, entry: IndexEntry): boolean {
  try {
    const found = files.stat(entry.path);
    return found !== undefined && isAsWritten(own.file, entry, found, own.written, settings.fileMode);
  } catch (error) {
    throw asUnreadable(entry.path, error);
  }
}

async function askGit(
  { git, call, scratch, folder }: Look,
  own: OwnIndex,
  entries: readonly IndexEntry[],
): Promise<ReadonlySet<string>> {
  const output = join(scratch, 'changed');
  const [first] = entries;
  if (first === undefined) return new Set();
  const isWhole = entries.length === own.file.entries.size;
  const index = isWhole ? own.path : join(scratch, 'known');
  if (!isWhole) writeFileSync(index, cutIndex(own.file, entries, first.object.length / 2));
  const args = ['diff-files', '-z', '--name-only', '--no-ext-diff', '--ignore-submodules=all', `--output=${output}`];
  const readable = [
    folder,
    ...(call.gitDirectory === undefined ? [] : [call.gitDirectory]),
    ...(call.cage?.readable ?? []),
    ...(isWhole ? [index] : []),
  ];
  const answer = await git.run(args, {
    ...call,
    cwd: folder,
    workTree: folder,
    index,
    cage: { writable: [scratch], readable },
  });
  if (answer.code !== 0) throw notStored(args, answer);
  const names = readFileSync(output, 'latin1').split('\0');
  return new Set(names.slice(0, -1));
}
