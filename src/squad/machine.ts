import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Host } from '../engine/compose.ts';
import { wrongEnvironment } from '../model/errors.ts';
import { absolutePath } from '../text/absolute-path.ts';
import { realPath } from '../substrate/system/files/real-path.ts';
import { PROCESS_SOURCES, seeProcessesBy } from '../substrate/system/process/process-table.ts';
import { commonDirectoryAt } from '../substrate/git/plain-checkout.ts';
import { plainLine } from '../text/plain-text.ts';

/** How a squad sees its machine, where that differs from the process that it runs in. */
export interface MachineOptions {
  /** A folder of the repository. Default: the working directory of the process. */
  readonly cwd?: string;
  /**
   * Replaces `process.env`: PATH, HOME, the XDG folders, USER and the secrets to keep out of the ledger. Agents get only the
   * variables that `squad.yaml` names.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Variables that name a folder. git and agents would take a relative one from the folder that they stand in. */
const FOLDERS = ['HOME', 'TMPDIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME'];

/** The only place that reads the process it runs in. Throws `wrong-environment` where it has no folder, or no home. */
export function readMachine({ cwd = currentFolder(), environment = process.env }: MachineOptions = {}): Host {
  if (environment['SQUAD_PROCESSES'] !== undefined) chooseSource(environment['SQUAD_PROCESSES']);
  const userHome = absolutePath(environment['HOME']) ?? homeOfUser();
  // The XDG specification: empty is unset, and a relative path is invalid and to be ignored.
  const folder = (path: string | undefined, ...otherwise: string[]): string =>
    absolutePath(path) ?? join(userHome, ...otherwise);
  const stateHome = folder(environment['XDG_STATE_HOME'], '.local', 'state');
  return {
    environment: withWholePaths(environment, userHome),
    workingDirectory: resolve(cwd),
    userHome,
    stateDirectory: withoutLinks(stateDirectoryOf(environment['SQUAD_STATE'], resolve(cwd), stateHome)),
    configHome: folder(environment['XDG_CONFIG_HOME'], '.config'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    node: process.execPath,
    pid: process.pid,
  };
}

/** `ps` on Linux is for tests of what squad does on a Mac. */
function chooseSource(name: string): void {
  const source = PROCESS_SOURCES.find((one) => one === name);
  if (source === undefined) {
    const names = PROCESS_SOURCES.join(' and ');
    throw wrongEnvironment(`SQUAD_PROCESSES names no way to see processes; there are ${names}`, 'Unset it.');
  }
  seeProcessesBy(source);
}

/** A cage has what is behind a link, but not the link. One that leads nowhere stays, and is reported where it is used. */
function withoutLinks(path: string): string {
  return (isAbsolute(path) ? realPath(path) : undefined) ?? path;
}

/** Removes variables that name a folder by no absolute path, and then sets HOME to `userHome`. */
function withWholePaths(environment: Host['environment'], userHome: string): Host['environment'] {
  const isWrong = (name: string): boolean =>
    environment[name] !== undefined && absolutePath(environment[name]) === undefined;
  const wrong = FOLDERS.filter(isWrong);
  if (wrong.length === 0) return environment;
  const kept = Object.entries(environment).filter(([name]) => !wrong.includes(name));
  return { ...Object.fromEntries(kept), HOME: userHome };
}

/** As the system's list of users has it. Node's `homedir` would give back what HOME says. */
function homeOfUser(): string {
  try {
    const home = absolutePath(userInfo().homedir);
    if (home !== undefined) return home;
  } catch {
    // A user id without an entry there, as in some containers.
  }
  throw wrongEnvironment(
    'HOME is no absolute path, and the system knows no home of this user',
    'Set HOME to a folder of yours, for example with `export HOME=/home/me`.',
  );
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    throw wrongEnvironment(
      'the folder that squad was started in is gone',
      'Change to a folder that is there, with `cd`.',
    );
  }
}

/** `git`: below the git directory of the repository, for a home that does not last. `openMachine` refuses what is no absolute path. */
function stateDirectoryOf(setting: string | undefined, cwd: string, stateHome: string): string {
  if (setting === undefined || setting === '') return join(stateHome, 'squad');
  if (setting !== 'git') return setting;
  const common = commonDirectoryAt(cwd);
  return common === undefined ? join(stateHome, 'squad') : join(common, 'squad', `state-${process.getuid?.() ?? 0}`);
}

/** The person who gives a command, as stored and shown. A user id without a name, as in some containers, is `operator`. */
export function operatorOf({ environment, through }: Pick<Host, 'environment' | 'through'>): string {
  const person = plainLine(environment['USER'] ?? environment['LOGNAME'] ?? 'operator', 64);
  return through === undefined ? person : `${person} through ${through}`;
}

/** For packages that read their settings while they load. Restores the variables afterwards. */
export async function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  load: () => Promise<T>,
): Promise<T> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    return await load();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
