import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { isWithin } from '../../substrate/files/confine.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import type { Cage } from './confine.ts';

/** Places of people and services: homes, temporary files, sockets. */
const PLACES = ['/home', '/root', '/tmp', '/var/tmp', '/run'];
/** Systems that keep the names of servers or all programs there. */
const OF_THE_SYSTEM = ['/etc/resolv.conf', '/run/current-system', '/run/opengl-driver'];

interface Viewer extends Pick<RuntimeSettings, 'environment' | 'userHome' | 'stateDirectory'> {
  /** The turn's own: other turns are next to it. */
  readonly directory: string;
  /** The agent's program and its arguments: those that are absolute paths have to be there. */
  readonly command: readonly string[];
  /** What settings open besides. */
  readonly read: readonly string[];
}

/**
 * What a confined agent sees of private places: of the user's home, temporary files, sockets and squad's own folders nothing but the
 * programs on PATH, its own program, and the objects that a task's repository borrows.
 */
export async function privateView(viewer: Viewer): Promise<Pick<Cage, 'hidden' | 'readable'>> {
  const { environment, userHome, stateDirectory, directory, command, read } = viewer;
  const turns = dirname(directory);
  const squad = basename(turns) === 'turns' ? dirname(turns) : turns;
  const places = await foldersOf([userHome, stateDirectory, squad, ...PLACES]);
  const hidden = places.filter((path) => !places.some((other) => other !== path && isWithin(other, path)));
  const path = (environment['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const nodes = path.map((folder) => join(folder, 'node'));
  const needed = [
    ...path.map((folder) => rootOf(join(folder, 'program'), userHome)),
    ...(await realPaths([...nodes, ...command])).map((file) => rootOf(file, userHome)),
    ...command.filter((text) => isAbsolute(text)).map((file) => rootOf(file, userHome)),
    ...(await realPaths(OF_THE_SYSTEM)),
    ...(await borrowedBy(join(dirname(squad), '.git'))),
    ...read.map((one) => (one.startsWith('~/') ? join(userHome, one.slice(2)) : one)),
  ];
  const isHidden = (one: string): boolean => hidden.some((place) => one !== place && isWithin(place, one));
  return {
    hidden: hidden.map((one) => ({ path: one, isFolder: true })),
    readable: [...new Set(needed)].filter((one) => isHidden(one)),
  };
}

/** The folder that a program needs besides itself: all packages that are installed with it, its installation, or its own folder. */
function rootOf(file: string, userHome: string): string {
  const modules = /^.*?\/node_modules(?=\/)/.exec(file)?.[0];
  if (modules !== undefined) return modules;
  const folder = dirname(file);
  const isInstalled = basename(folder) === 'bin' && !isWithin(dirname(dirname(folder)), userHome);
  // A folder of the user’s home such as `.local` or `.cargo` holds more than programs.
  const isOwn = dirname(dirname(folder)) === userHome;
  const root = isInstalled && !isOwn ? dirname(folder) : folder;
  return root === userHome || PLACES.includes(root) ? file : root;
}

async function foldersOf(paths: readonly string[]): Promise<string[]> {
  const found = await realPaths(paths);
  const isFolder = await Promise.all(found.map(async (path) => (await stat(path)).isDirectory()));
  return [...new Set(found.filter((_, index) => isFolder[index]))];
}

async function realPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.filter((path) => isAbsolute(path)).map((path) => realpath(path).catch(() => '')),
  );
  return found.filter((path) => path !== '');
}

/** The object stores of the repository that has `.squad`. Never those that the agent's own repository names: the agent writes there. */
async function borrowedBy(git: string): Promise<string[]> {
  const pointer = /^gitdir: (\/.+)$/m.exec(await textOf(git))?.[1] ?? git;
  const common = (await textOf(join(pointer, 'commondir'))).trim();
  const objects = join(common === '' ? pointer : isAbsolute(common) ? common : join(pointer, common), 'objects');
  const more = (await textOf(join(objects, 'info', 'alternates'))).split('\n').filter((path) => isAbsolute(path));
  return realPaths([objects, ...more]);
}

function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
