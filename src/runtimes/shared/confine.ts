import type { Access } from '../../model/access.ts';
import { isWithin } from '../../substrate/system/files/confine.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { refuse, type Refusal, type RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';
import { findProgram } from './find-program.ts';

/** The programs that confine an agent without a sandbox of its own. */
export interface Bubblewrap {
  readonly bwrap: string;
  readonly env: string;
  /** Namespaces that this machine gives besides those that a cage cannot do without. */
  readonly namespaces: readonly string[];
}

/** System V memory and message queues, the name of the host, and the tree of control groups. */
const MORE_NAMESPACES = ['--unshare-ipc', '--unshare-uts', '--unshare-cgroup'];

/** A path that a confined agent sees empty. */
interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

/**
 * The limits of a confined agent: it reads everything else and writes nothing else. If one of two folders is in the other, each decides
 * about its own content: a hidden folder in a readable one stays hidden.
 */
export interface Cage {
  /** Absolute, without links. A folder that is missing stays missing. */
  readonly writable: readonly string[];
  readonly hidden: readonly Hidden[];
  readonly readable?: readonly string[];
  /** Below what is writable, and not writable. */
  readonly kept?: readonly string[];
  /** Files that are there and seem empty. */
  readonly masked?: readonly string[];
  /** false: it has none. Absent: it keeps the network. */
  readonly network?: boolean;
  readonly cwd: string;
}

/** A confined agent cannot change these of its repository: they could lead the next turn's git elsewhere. */
export const KEPT = ['.git/config', '.git/hooks', '.git/objects/info'];

/** The bubblewrap that confines agents here, or why there is none. */
export type Confiner = Bubblewrap | { readonly problem: string };

/** Bubblewrap as this machine has it. Success is remembered; a failure may pass, so it is tried again. */
export function createConfiner(
  settings: Pick<RuntimeSettings, 'platform' | 'environment'>,
  trial: Trial,
): () => Promise<Confiner> {
  let found: Confiner | undefined;
  return async () => {
    if (found === undefined || 'problem' in found) found = await findBubblewrap(settings, trial);
    return found;
  };
}

/** After a trial with the real options. */
async function findBubblewrap(
  { platform, environment }: Pick<RuntimeSettings, 'platform' | 'environment'>,
  trial: Trial,
): Promise<Confiner> {
  if (platform !== 'linux') return { problem: 'it runs on Linux only' };
  const [bwrap, env] = await Promise.all(['bwrap', 'env'].map((name) => findProgram(environment['PATH'], name)));
  if (bwrap === undefined || env === undefined) return { problem: 'bubblewrap is not installed' };
  const problemWith = async (namespaces: readonly string[]): Promise<string | undefined> => {
    const { binary, args } = confined({ bwrap, env, namespaces }, { writable: [], hidden: [], cwd: '/' }, 'true', []);
    return trial(binary, args, { kind: 'cage-trial' });
  };
  if ((await problemWith(MORE_NAMESPACES)) === undefined) return { bwrap, env, namespaces: MORE_NAMESPACES };
  const problem = await problemWith([]);
  if (problem !== undefined) return { problem };
  const problems = await Promise.all(MORE_NAMESPACES.map(async (one) => problemWith([one])));
  return { bwrap, env, namespaces: MORE_NAMESPACES.filter((_, index) => problems[index] === undefined) };
}

export const INSTALL = 'install bubblewrap, and allow user namespaces';

/** `unconfined`: the settings allow `edit` without confinement. */
export function probedConfinement(
  name: string,
  confiner: Confiner,
  unconfined: boolean,
): { readonly level: Probe['sandbox']; readonly problem?: Probe['problems'][number] } {
  if ('bwrap' in confiner) return { level: 'os' };
  const text = `nothing confines ${name} here: ${confiner.problem}`;
  return { level: unconfined ? 'rules' : 'none', problem: { text, next: INSTALL } };
}

/** The refusal of an agent that could write anywhere; undefined: it is confined, or may be without (`setting`). */
export function refuseUnconfined(
  name: string,
  { level }: Access,
  confiner: Confiner | undefined,
  { setting, isOn }: { readonly setting: string; readonly isOn: boolean },
): Refusal | undefined {
  if (level !== 'edit' || confiner === undefined || 'bwrap' in confiner || isOn) return undefined;
  const why = `bubblewrap cannot confine ${name} here (${confiner.problem})`;
  return refuse('sandbox-unavailable', 'access', `${why}: ${INSTALL}, or set ${setting}: true`);
}

/** A signal to the turn's group is for the program: the shell makes bubblewrap deaf to it, and `env` gives the program its ears back. */
const DEAF = 'trap "" INT TERM; exec "$@"';

/**
 * The command in a cage that ends with it. Its own user namespace keeps it from the memory and the mounts of other processes, also
 * where squad runs as root.
 */
export function confined(
  { bwrap, env, namespaces }: Bubblewrap,
  cage: Cage,
  program: string,
  args: readonly string[],
): { readonly binary: string; readonly args: string[] } {
  const { kept = [], masked = [], network = true, cwd } = cage;
  const own = ['--unshare-user', '--unshare-pid', ...namespaces, '--die-with-parent', '--cap-drop', 'ALL'];
  if (!network) own.push('--unshare-net');
  const disk = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const last = [
    ...kept.flatMap((path) => ['--ro-bind-try', path, path]),
    ...masked.flatMap((path) => ['--ro-bind', '/dev/null', path]),
  ];
  const inside = ['--chdir', cwd, '--', env, '--default-signal=INT,TERM', program, ...args];
  const words = [...own, ...disk, ...mountsOf(cage), ...last, ...inside];
  return { binary: '/bin/sh', args: ['-c', DEAF, 'sh', bwrap, ...words] };
}

const HIDE = '--tmpfs';

/** The outer ones first, because a mount covers all below it. In a place that is hidden nothing has to be hidden again. */
function mountsOf({ hidden, readable = [], writable }: Cage): readonly string[] {
  const all = [
    ...hidden.map(({ path, isFolder }) => ({ path, words: isFolder ? [HIDE] : ['--ro-bind', '/dev/null'] })),
    ...readable.map((path) => ({ path, words: ['--ro-bind-try', path] })),
    ...writable.map((path) => ({ path, words: ['--bind-try', path] })),
  ].toSorted((one, other) => depthOf(one.path) - depthOf(other.path));
  const isNeeded = ({ path, words }: (typeof all)[number], index: number): boolean =>
    words[0] !== HIDE || all.slice(0, index).findLast((other) => isWithin(other.path, path))?.words[0] !== HIDE;
  return all.filter(isNeeded).flatMap(({ path, words }) => [...words, path]);
}

function depthOf(path: string): number {
  return path.split('/').filter((part) => part !== '').length;
}
