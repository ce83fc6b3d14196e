import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../compose.ts';

/** The only place that reads the process it runs in. */
export function readHost(): Host {
  const environment = process.env;
  const userHome = environment['HOME'] ?? homedir();
  return {
    environment,
    workingDirectory: process.cwd(),
    userHome,
    stateHome: environment['XDG_STATE_HOME'] ?? join(userHome, '.local', 'state'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: process.getuid?.() === 0,
    node: process.execPath,
    pid: process.pid,
  };
}
