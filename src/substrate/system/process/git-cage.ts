import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { absolutePath } from '../../../text/absolute-path.ts';
import { isWithin } from '../files/confine.ts';
import { exists } from '../files/exists.ts';
import { realPaths } from '../files/real-paths.ts';
import type { Processes } from '../../ports/processes.ts';

/** Paths that a git in the cage may write, and private ones that it may read. */
export interface CageView {
  readonly writable: readonly string[];
  readonly readable: readonly string[];
}

/** The command that confines a git, or why there is none. */
type GitCage = { readonly wrap: (view: CageView, cwd: string) => Promise<readonly string[]> } | { problem: string };

/** For a git that works on files of an agent. */
export type FindCage = (git: string, environment: Readonly<Record<string, string>>) => Promise<GitCage>;

/** Homes, temporary files and sockets. */
const PLACES = ['/home', '/root', '/tmp', '/var/tmp', '/run', '/mnt', '/media', '/srv'];
const FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];
const TRIAL_MS = 10_000;

/**
 * Bubblewrap, after a trial with this git: no network, no process but its own, nothing to read in private places and nothing to
 * write but what it is for. The answer for a git changes only with the machine, so it is asked for once.
 */
export function createGitCage(processes: Processes): FindCage {
  const found = new Map<string, Promise<GitCage>>();
  return async (git, environment) => {
    const key = `${git}\0${absolutePath(environment['HOME']) ?? ''}`;
    const known = found.get(key) ?? tryCage(processes, git, environment);
    found.set(key, known);
    return known;
  };
}

async function tryCage(
  processes: Processes,
  git: string,
  environment: Readonly<Record<string, string>>,
): Promise<GitCage> {
  if (process.platform !== 'linux') return { problem: 'it is for Linux only' };
  const programs = FOLDERS.map((folder) => join(folder, 'bwrap'));
  const there = await Promise.all(programs.map(exists));
  const bwrap = programs.find((_, index) => there[index]);
  if (bwrap === undefined) return { problem: 'bubblewrap is not installed' };
  const hidden = await hiddenPlaces(absolutePath(environment['HOME']));
  const programFiles = [git, await realpath(git).catch(() => git)].map((file) => dirname(file));
  const wrap = async (view: CageView, cwd: string): Promise<readonly string[]> => {
    const [readable, writable] = await Promise.all([
      realPaths([...programFiles, ...view.readable]),
      realPaths(view.writable),
    ]);
    const isHidden = (path: string): boolean =>
      [...hidden, '/dev'].some((place) => place !== path && isWithin(place, path));
    return [
      ...[bwrap, '--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
      ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
      ...hidden.flatMap((place) => ['--tmpfs', place]),
      ...readable.filter((path) => isHidden(path)).flatMap((path) => ['--ro-bind', path, path]),
      ...writable.flatMap((path) => ['--bind', path, path]),
      ...['--chdir', cwd, '--'],
    ];
  };
  const [command = bwrap, ...args] = await wrap({ writable: [], readable: [] }, '/');
  const tried = await processes.run(command, [...args, git, '--version'], {
    kind: 'cage-trial',
    cwd: '/',
    env: environment,
    timeoutMs: TRIAL_MS,
  });
  if (tried.code === 0 && tried.stdout.includes('git version')) return { wrap };
  const why = tried.problem ?? tried.stderr.trim().split('\n')[0];
  return { problem: why === undefined || why === '' ? `a trial ended with ${tried.code}` : why };
}

async function hiddenPlaces(home: string | undefined): Promise<readonly string[]> {
  const real = await realPaths([...PLACES, ...(home === undefined ? [] : [home])]);
  const places = [...new Set(real)].filter((path) => path !== '/');
  return places.filter((path) => !places.some((other) => other !== path && isWithin(other, path)));
}
