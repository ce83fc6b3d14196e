import { isAbsolute } from 'node:path';
import { SquadError, wrongEnvironment } from '../model/errors.ts';
import type { Playbooks } from '../model/plan.ts';
import { findProgram, isExecutable } from '../runtimes/shared/find-program.ts';
import { refuseOldNode } from '../substrate/system/process/node-version.ts';
import { createSystemClock } from '../substrate/system/clock/system-clock.ts';
import type { ForgePorts } from '../substrate/git/forge/remotes.ts';
import type { GitPorts } from '../substrate/git/git-call.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Processes } from '../substrate/ports/processes.ts';
import { plainLine } from '../text/plain-text.ts';
import { createSystemProcesses } from '../substrate/system/process/system-processes.ts';

/** The machine that squad runs on, read once by the command line. */
export interface Host {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly userHome: string;
  /** squad's own folder for this person (`$XDG_STATE_HOME/squad`, or what `SQUAD_STATE` says): the state of each repository, private homes. */
  readonly stateDirectory: string;
  /** `$XDG_CONFIG_HOME`: its `squad` folder has this person's settings and records which commands they agreed to. */
  readonly configHome: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly isRoot: boolean;
  readonly node: string;
  readonly pid: number;
  /** A program that gives commands in the name of the person; records say so. */
  readonly through?: string;
}

/** Enough to read runs. Starting and driving one takes a `Composition`, with the runtimes, which load slowly. */
export interface Machine {
  readonly clock: Clock;
  readonly processes: Processes;
  readonly git: GitPorts;
  /** An application's own. */
  readonly playbooks?: Playbooks;
}

/** Has no side effects. Throws on Windows, and on a Node that is too old. */
export function openMachine(host: Host): Machine {
  refuseOldNode(process.versions);
  refuseWindows(host);
  refuseRelative(host);
  const clock = createSystemClock();
  const processes = createSystemProcesses({ clock });
  const { stateDirectory } = host;
  const binary = createLookUp(host, 'git');
  return { clock, processes, git: { processes, environment: host.environment, binary, stateDirectory } };
}

/** squad starts and ends processes by the rules of POSIX, and was never tested on Windows. */
function refuseWindows({ platform }: Host): void {
  if (platform !== 'win32') return;
  throw new SquadError({
    code: 'wrong-environment',
    message: 'squad does not run on Windows itself',
    next: 'Run it in WSL 2, with the repository on a disk of WSL 2.',
  });
}

/** A folder that depends on where a command is started would not be found again. */
function refuseRelative({ stateDirectory }: Host): void {
  if (isAbsolute(stateDirectory)) return;
  throw wrongEnvironment(
    `SQUAD_STATE=${plainLine(stateDirectory, 200)} is neither an absolute path nor \`git\``,
    'Set it to a folder, such as `/var/lib/squad`, to `git`, or not at all.',
  );
}

/** git and the command lines of forges, with the person's logins. */
export function forgePortsOf(of: { readonly host: Host; readonly composition: Pick<Machine, 'git'> }): ForgePorts {
  return { ...of.composition.git, forgeCli: (name) => findProgram(of.host.environment['PATH'], name) };
}

/** Absolute path of a program on PATH. Throws `wrong-environment` if it is not installed. */
export async function requireProgram(host: Host, name: string): Promise<string> {
  const path = await findProgram(host.environment['PATH'], name);
  if (path !== undefined) return path;
  throw new SquadError({
    code: 'wrong-environment',
    message: `${name} is not on PATH`,
    next: `Install ${name}, then run \`squad doctor\`.`,
  });
}

/** Finds the program again only if it has moved. */
function createLookUp(host: Host, name: string): () => Promise<string> {
  let known: string | undefined;
  return async () => {
    if (known === undefined || !(await isExecutable(known))) known = await requireProgram(host, name);
    return known;
  };
}
