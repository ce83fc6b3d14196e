import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Host } from '../compose.ts';
import { plainLine } from '../text/plain-text.ts';

/** The only place that reads the process it runs in. */
export function readHost(): Host {
  const environment = process.env;
  const userHome = environment['HOME'] ?? homedir();
  // The XDG specification: empty is unset, and a relative path is invalid and to be ignored.
  const folder = (path: string | undefined, ...otherwise: string[]): string =>
    path !== undefined && isAbsolute(path) ? path : join(userHome, ...otherwise);
  return {
    environment,
    workingDirectory: process.cwd(),
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
export function operatorOf({ environment }: Host): string {
  return plainLine(environment['USER'] ?? environment['LOGNAME'] ?? 'operator', 64);
}
