import type { Access } from '../../model/access.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { refuse, type Refusal, type RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';
import { findProgram } from './find-program.ts';

/** The programs that confine an agent without a sandbox of its own. */
export interface Bubblewrap {
  readonly bwrap: string;
  readonly env: string;
}

/** A path that a confined agent sees empty. */
interface Hidden {
  readonly path: string;
  readonly isFolder: boolean;
}

/** What a confined agent may touch. It reads everything else and writes nothing else; it keeps the network. */
export interface Cage {
  /** Absolute, without links. A folder that is missing stays missing. */
  readonly writable: readonly string[];
  readonly hidden: readonly Hidden[];
  /** Below what is hidden. */
  readonly readable?: readonly string[];
  /** Below what is writable, and not writable. */
  readonly kept?: readonly string[];
  /** Files that are there and seem empty. */
  readonly masked?: readonly string[];
  readonly cwd: string;
}

/** What confines an agent here, or why nothing does. */
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
  const { binary, args } = confined({ bwrap, env }, { writable: [], hidden: [], cwd: '/' }, 'true', []);
  const problem = await trial(binary, args);
  return problem === undefined ? { bwrap, env } : { problem };
}

const INSTALL = 'install bubblewrap, and allow user namespaces';

/** What a probe says of it. `unconfined`: the settings allow `edit` without. */
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
  { bwrap, env }: Bubblewrap,
  { writable, hidden, readable = [], kept = [], masked = [], cwd }: Cage,
  program: string,
  args: readonly string[],
): { readonly binary: string; readonly args: string[] } {
  const namespaces = ['--unshare-user', '--unshare-pid', '--die-with-parent', '--cap-drop', 'ALL'];
  const disk = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const masks = hidden.flatMap(({ path, isFolder }) =>
    isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
  );
  const open = [
    ...readable.flatMap((path) => ['--ro-bind-try', path, path]),
    ...writable.flatMap((path) => ['--bind-try', path, path]),
    ...kept.flatMap((path) => ['--ro-bind-try', path, path]),
    ...masked.flatMap((path) => ['--ro-bind', '/dev/null', path]),
  ];
  const inside = ['--chdir', cwd, '--', env, '--default-signal=INT,TERM', program, ...args];
  return { binary: '/bin/sh', args: ['-c', DEAF, 'sh', bwrap, ...namespaces, ...disk, ...masks, ...open, ...inside] };
}
