import { stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { CERTIFICATE_VARIABLES } from '../../model/network-variables.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { realPaths } from '../../substrate/system/files/real-paths.ts';
import { storesBehind } from '../../substrate/system/files/object-stores.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import { attachedFiles } from './attached-files.ts';
import type { Cage } from './cage.ts';

/** Places of people and services: homes, temporary files, sockets. */
const PLACES = ['/home', '/root', '/tmp', '/var/tmp', '/run', '/Users', '/var/folders'];
/** Hidden in the user's home, even where all of it is opened. */
const KEYS = ['.ssh', '.gnupg'];
/** Systems that keep the names of servers or all programs there. */
const OF_THE_SYSTEM = ['/etc/resolv.conf', '/run/current-system', '/run/opengl-driver'];

interface Viewer extends Pick<RuntimeSettings, 'environment' | 'userHome' | 'stateDirectory'> {
  /** The turn's own: other turns are next to it. */
  readonly directory: string;
  /** Where the agent works. The run's objects are beside it. */
  readonly workspace: string;
  /** The agent's program, as it was found and as it was named. */
  readonly programs: readonly string[];
  /** Its arguments: what is an absolute path among them has to be there, and nothing beside it. */
  readonly args: readonly string[];
  /** Further paths that the settings open. */
  readonly read: readonly string[];
  /** Paths that squad itself made for it. */
  readonly own: readonly string[];
}

/**
 * Hides the home, temporary files, sockets and squad's folders, except the programs on PATH, the agent's own with the paths in its
 * arguments, the objects that the task's repository borrows, and the attachments of its requests. Keys and squad's folders always stay hidden.
 */
export async function privateView(viewer: Viewer): Promise<Pick<Cage, 'hidden' | 'readable'>> {
  const { environment, userHome, stateDirectory, directory, workspace, programs, args, read, own } = viewer;
  const turns = dirname(directory);
  const squad = basename(turns) === 'turns' ? dirname(turns) : turns;
  const path = (environment['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const nodes = path.map((folder) => join(folder, 'node'));
  // To name a whole home does not mean to open it.
  const named = args.filter((one) => isAbsolute(one) && !isWithin(one, userHome));
  const found = [...programs.filter((text) => isAbsolute(text)), ...(await realPaths([...nodes, ...programs]))];
  const borrowed = await borrowedBy(dirname(workspace));
  const keys = KEYS.map((name) => join(userHome, name));
  const closed = await foldersOf([stateDirectory, squad, ...borrowed.map(viewBeside), ...keys]);
  const wanted = await openIn(closed, [
    ...path.map((folder) => rootOf(join(folder, 'program'), userHome)),
    ...found.map((file) => rootOf(file, userHome)),
    ...[...named, ...(await realPaths(named))].map((file) => packagesOf(file) ?? file),
    ...(await realPaths(OF_THE_SYSTEM)),
    ...CERTIFICATE_VARIABLES.flatMap((name) => environment[name] ?? []).filter((file) => isAbsolute(file)),
    ...read.map((one) => (one.startsWith('~/') ? join(userHome, one.slice(2)) : one)),
  ]);
  const attached = await attachedFiles(directory);
  const hidden = [...new Set([...(await foldersOf([userHome, ...PLACES])), ...closed])];
  const isHidden = (one: string): boolean => hidden.some((place) => one !== place && isWithin(place, one));
  const readable = [...new Set([...wanted, ...borrowed, ...own, ...attached])].filter((one) => isHidden(one));
  const aliases = await Promise.all(readable.map(async (one) => seenThrough(one, hidden)));
  return {
    hidden: [...new Set([...hidden, ...aliases.flat()])].map((one) => ({ path: one, isFolder: true })),
    readable,
  };
}

/** The view for people of the repository with these objects. */
function viewBeside(objects: string): string {
  return join(dirname(dirname(objects)), '.squad');
}

/** Those that are neither one of the closed folders nor in one, by whichever name: nothing that is named opens these. */
async function openIn(closed: readonly string[], paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map(async (path) => (await realPaths([path]))[0]));
  return paths.filter((_, index) => {
    const place = real[index];
    return place !== undefined && !closed.some((folder) => isWithin(folder, place));
  });
}

/** Where the hidden folders are in a folder that is opened by a link's name. */
async function seenThrough(name: string, hidden: readonly string[]): Promise<string[]> {
  const [real = name] = await realPaths([name]);
  if (real === name) return [];
  return hidden.filter((one) => isWithin(real, one)).map((one) => join(name, relative(real, one)));
}

/** The folder that a program needs besides itself: all packages that are installed with it, its installation, or its own folder. */
function rootOf(file: string, userHome: string): string {
  const modules = packagesOf(file);
  if (modules !== undefined) return modules;
  const folder = dirname(file);
  const isInstalled = basename(folder) === 'bin' && !isWithin(dirname(dirname(folder)), userHome);
  // A folder of the user’s home such as `.local` or `.cargo` holds more than programs.
  const isOwn = dirname(dirname(folder)) === userHome;
  const root = isInstalled && !isOwn ? dirname(folder) : folder;
  return root === userHome || PLACES.includes(root) ? file : root;
}

/** The packages that are installed together with the one of this file. */
function packagesOf(file: string): string | undefined {
  return /^.*?\/node_modules(?=\/)/.exec(file)?.[0];
}

async function foldersOf(paths: readonly string[]): Promise<readonly string[]> {
  const found = await realPaths(paths);
  const isFolder = await Promise.all(found.map(async (path) => (await stat(path)).isDirectory()));
  return [...new Set(found.filter((_, index) => isFolder[index]))];
}

/**
 * The object stores of the run with this folder, and of the repositories that they borrow from. Never those that the agent's own
 * repository names: the agent writes there.
 */
async function borrowedBy(run: string): Promise<readonly string[]> {
  const own = [join(run, '.squad', 'run.git', 'objects'), join(run, '.squad', 'objects')];
  return realPaths((await Promise.all(own.map(storesBehind))).flat());
}
