import { randomBytes } from 'node:crypto';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readPlainSync } from './read-plain.ts';
import { realPath } from './real-path.ts';
import { z } from 'zod';
import { errorCode, storageError } from '../../../model/storage-error.ts';
import { parseJson } from '../../../text/json.ts';
import { makeSynced, syncFile } from './sync.ts';

/** The folder in the state folder that holds everything of one repository: ledger, checkpoints, turns, consent, tasks' folders. */
export interface StatePlace {
  readonly id: string;
  readonly directory: string;
}

export type FoundState =
  /** `from`: the git directory that it was last used from, if the repository was moved since. */
  | ({ readonly type: 'known'; readonly from?: string } & StatePlace)
  /**
   * Nothing of this person's belongs to the repository. `no-id`: squad never ran in it. `unknown`: its id came from elsewhere.
   * `copy`: its id belongs to the repository at `of`. `directory`: a place where nothing is.
   */
  | { readonly type: 'none'; readonly why: 'no-id' | 'unknown'; readonly directory: string }
  | { readonly type: 'none'; readonly why: 'copy'; readonly of: string; readonly directory: string };

/** Where the repository keeps its id, below the git directory that all its checkouts share: no `git clean` reaches it, no clone brings it. */
const ID_FILE = join('squad', 'id');
/** In the folder of a repository's state: where that repository is. */
export const PLACE_FILE = 'place.json';
const ID = /^[a-z0-9][a-z0-9-]{0,23}-[0-9a-f]{16}$/;
/** No id is like this one. */
const NOTHING = 'none';

const placeSchema = z.object({
  version: z.literal(1),
  /** The git directory that all checkouts of the repository share, by its real path. */
  commonDirectory: z.string(),
  /** With `inode`, identifies that directory even after it is renamed. */
  device: z.string(),
  inode: z.string(),
});
type Place = z.infer<typeof placeSchema>;

/** Finds what this person's state folder has of a repository. Changes nothing. */
export function findState(stateDirectory: string, commonDirectory: string): FoundState {
  const nothing = join(stateDirectory, NOTHING);
  const id = readId(commonDirectory);
  if (id === undefined) return { type: 'none', why: 'no-id', directory: nothing };
  const directory = join(stateDirectory, id);
  const place = readPlace(directory);
  if (place === undefined) return { type: 'none', why: 'unknown', directory: nothing };
  const here = placeOf(commonDirectory);
  if (place.commonDirectory === here.commonDirectory) return { type: 'known', id, directory };
  const isSame = place.device === here.device && place.inode === here.inode;
  if (!isSame && readId(place.commonDirectory) === id)
    return { type: 'none', why: 'copy', of: place.commonDirectory, directory: nothing };
  return { type: 'known', id, directory, from: place.commonDirectory };
}

/**
 * Gives a repository its place in the state folder, and binds it to where the repository is now. A repository without an id gets
 * one, and so does the copy of another one.
 */
export function bindState(stateDirectory: string, commonDirectory: string, name: string): StatePlace {
  const found = findState(stateDirectory, commonDirectory);
  try {
    const isOwn = found.type === 'known' || found.why === 'unknown';
    const id = (isOwn ? readId(commonDirectory) : undefined) ?? writeId(commonDirectory, idFor(name), found);
    const directory = join(stateDirectory, id);
    makeSynced(directory);
    if (found.type !== 'known' || found.from !== undefined) writePlace(directory, placeOf(commonDirectory));
    return { id, directory };
  } catch (error) {
    throw storageError(join(commonDirectory, ID_FILE), error);
  }
}

/** Where squad's gits put temporary files, and where the folders of a repository's runs are. */
export function workspacePlaces({ stateDirectory }: { readonly stateDirectory: string }, directory: string) {
  const runs = join(directory, 'work');
  // A person may have put either of them on another disk, and a cage does not have the link to it.
  return { stateDirectory, runsDirectory: realPath(runs) ?? runs };
}

/** Whether the repository at this git directory still is the one that the state in `directory` belongs to. */
export function isBoundTo(directory: string, commonDirectory: string): boolean {
  return readId(commonDirectory) === basename(directory);
}

/** Writes the id again that a person has deleted. false: the repository is not there, or is another one. */
export function restoreId(directory: string, commonDirectory: string): boolean {
  try {
    const [place, here] = [readPlace(directory), placeOf(commonDirectory)];
    if (readId(commonDirectory) !== undefined) return false;
    if (place?.device !== here.device || place.inode !== here.inode) return false;
    return writeId(commonDirectory, basename(directory), undefined) === basename(directory);
  } catch {
    // It is not there.
    return false;
  }
}

/**
 * States that are a repository's, and that it is not bound to any more: its id or their note of where it is has come to harm. Without a
 * note the id alone says so.
 */
export function strayStates(stateDirectory: string, commonDirectory: string): string[] {
  const id = quietly(() => readId(commonDirectory));
  const here = quietly(() => realpathSync(commonDirectory));
  const names = quietly(() => readdirSync(stateDirectory).filter(isStateId)) ?? [];
  return names
    .map((name) => join(stateDirectory, name))
    .filter((directory) => {
      const place = quietly(() => readPlace(directory));
      return place === undefined
        ? basename(directory) === id
        : place.commonDirectory === here && basename(directory) !== id;
    });
}

function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // Unreadable counts as absent.
    return undefined;
  }
}

/** The git directory from which the state in a folder was last used; undefined: the folder is no repository's state. */
export function boundPlace(directory: string): string | undefined {
  return readPlace(directory)?.commonDirectory;
}

/** Whether a name in the state folder can be a repository's. */
export function isStateId(name: string): boolean {
  return ID.test(name);
}

/** `Äpfel 2` → `pfel-2-0123456789abcdef` */
function idFor(name: string): string {
  const slug = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+/g, '')
    .slice(0, 24)
    .replaceAll(/-+$/g, '');
  return `${slug === '' ? 'repository' : slug}-${randomBytes(8).toString('hex')}`;
}

/** undefined: there is none that squad wrote. A link there is not followed. */
function readId(commonDirectory: string): string | undefined {
  const path = join(commonDirectory, ID_FILE);
  try {
    if (!lstatSync(dirname(path)).isDirectory() || !lstatSync(path).isFile()) return undefined;
    const text = readPlainSync(path).trimEnd();
    return ID.test(text) ? text : undefined;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw storageError(path, error);
  }
}

/** Returns the id that counts: another process may have been faster. */
function writeId(commonDirectory: string, id: string, found: FoundState | undefined): string {
  const path = join(commonDirectory, ID_FILE);
  const folder = dirname(path);
  // A link is not followed when the id is read.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) rmSync(folder, { force: true });
  if (mkdirSync(folder, { recursive: true }) !== undefined) syncFile(commonDirectory);
  const fresh = `${path}.${id}`;
  writeFileSync(fresh, `${id}\n`, { flag: 'wx', flush: true });
  try {
    // A copy has the other one's.
    if (found?.type === 'none' && found.why === 'copy') renameSync(fresh, path);
    else linkSync(fresh, path);
    return id;
  } catch (error) {
    const known = errorCode(error) === 'EEXIST' ? readId(commonDirectory) : undefined;
    if (known !== undefined) return known;
    if (errorCode(error) !== 'EEXIST') throw error;
    // Something else is in its place.
    rmSync(path, { recursive: true, force: true });
    renameSync(fresh, path);
    return id;
  } finally {
    rmSync(fresh, { force: true });
    syncFile(dirname(path));
  }
}

function readPlace(directory: string): Place | undefined {
  const path = join(directory, PLACE_FILE);
  try {
    return placeSchema.safeParse(parseJson(readPlainSync(path))).data;
  } catch (error) {
    // The next binding puts a file in the place of what is none.
    if (/^(?:ENOENT|ENOTDIR|EINVAL|ENXIO|ELOOP|EISDIR)$/.test(errorCode(error) ?? '')) return undefined;
    throw storageError(path, error);
  }
}

function writePlace(directory: string, place: Place): void {
  const path = join(directory, PLACE_FILE);
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(place)}\n`, { mode: 0o600, flush: true });
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(path, { recursive: true });
  renameSync(fresh, path);
  syncFile(directory);
}

function placeOf(commonDirectory: string): Place {
  const real = realpathSync(commonDirectory);
  const { dev, ino } = statSync(real, { bigint: true });
  return { version: 1, commonDirectory: real, device: String(dev), inode: String(ino) };
}
