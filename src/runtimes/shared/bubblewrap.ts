import { layersOf, tryParts, type Cage, type Layer } from './cage.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import type { Trial } from './cli-program.ts';
import { findProgram } from './find-program.ts';

/** The programs that confine an agent on Linux. */
export interface Bubblewrap {
  readonly kind: 'bubblewrap';
  readonly bwrap: string;
  readonly env: string;
  /** Namespaces that this machine gives besides those that a cage cannot do without. */
  readonly namespaces: readonly string[];
}

/** System V memory and message queues, the name of the host, and the tree of control groups. */
const MORE_NAMESPACES = ['--unshare-ipc', '--unshare-uts', '--unshare-cgroup'];

/** After a trial with the real options. */
export async function findBubblewrap(
  { environment }: Pick<RuntimeSettings, 'environment'>,
  trial: Trial,
): Promise<Bubblewrap | { readonly problem: string }> {
  const [bwrap, env] = await Promise.all(['bwrap', 'env'].map((name) => findProgram(environment['PATH'], name)));
  if (bwrap === undefined || env === undefined) return { problem: 'bubblewrap is not installed' };
  const programs = { kind: 'bubblewrap', bwrap, env } as const;
  const tried = await tryParts(MORE_NAMESPACES, async (namespaces) => {
    const cage = { writable: [], hidden: [], cwd: '/' };
    const { binary, args } = inBubblewrap({ ...programs, namespaces }, cage, 'true', []);
    return trial(binary, args, { kind: 'cage-trial' });
  });
  return 'problem' in tried ? tried : { ...programs, namespaces: tried.parts };
}

/** A signal to the turn's group is for the program: the shell makes bubblewrap deaf to it, and `env` gives the program its ears back. */
const DEAF = 'trap "" INT TERM; exec "$@"';

/**
 * The command in a cage that ends with it. Its own user namespace keeps it from the memory and the mounts of other processes, also
 * where squad runs as root.
 */
export function inBubblewrap(
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
  const words = [...own, ...disk, ...layersOf(cage).flatMap(mountOf), ...last, ...inside];
  return { binary: '/bin/sh', args: ['-c', DEAF, 'sh', bwrap, ...words] };
}

function mountOf({ path, does }: Layer): readonly string[] {
  const mounts: Readonly<Record<Layer['does'], readonly string[]>> = {
    'hide-folder': ['--tmpfs', path],
    'hide-file': ['--ro-bind', '/dev/null', path],
    show: ['--ro-bind-try', path, path],
    open: ['--bind-try', path, path],
  };
  return mounts[does];
}
