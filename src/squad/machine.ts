import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Host } from '../compose.ts';
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

/** The only place that reads the process it runs in. */
export function readMachine({ cwd = process.cwd(), environment = process.env }: MachineOptions = {}): Host {
  const userHome = environment['HOME'] ?? homedir();
  // The XDG specification: empty is unset, and a relative path is invalid and to be ignored.
  const folder = (path: string | undefined, ...otherwise: string[]): string =>
    path !== undefined && isAbsolute(path) ? path : join(userHome, ...otherwise);
  return {
    environment,
    workingDirectory: resolve(cwd),
    userHome,
    stateHome: folder(environment['XDG_STATE_HOME'], '.local', 'state'),
    configHome: folder(environment['XDG_CONFIG_HOME'], '.config'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    node: process.execPath,
    pid: process.pid,
  };
}

/** The person who gives a command, as stored and shown. A user id without a name, as in some containers, is `operator`. */
export function operatorOf({ environment }: Pick<Host, 'environment'>): string {
  return plainLine(environment['USER'] ?? environment['LOGNAME'] ?? 'operator', 64);
}

/** What `load` gives, while the process has these variables: a package may read its settings as it loads. */
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
