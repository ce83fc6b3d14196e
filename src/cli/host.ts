import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Host } from '../compose.ts';

/** The only place that reads the process it runs in. */
export function readHost(): Host {
  const environment = process.env;
  const userHome = environment['HOME'] ?? homedir();
  const stateHome = environment['XDG_STATE_HOME'] ?? '';
  return {
    environment,
    workingDirectory: process.cwd(),
    userHome,
    // The XDG specification: empty is unset, and a relative path is invalid and to be ignored.
    stateHome: isAbsolute(stateHome) ? stateHome : join(userHome, '.local', 'state'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    node: process.execPath,
    pid: process.pid,
  };
}
