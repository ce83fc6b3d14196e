import { join } from 'node:path';
import type { Host } from '../../src/engine/compose.ts';

/** This machine for somebody whose home is a folder of the test's own. */
export function testHost(home: string, more: Partial<Host> = {}): Host {
  return {
    environment: { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: join(home, 'state') },
    workingDirectory: home,
    userHome: home,
    stateDirectory: join(home, 'state', 'squad'),
    configHome: join(home, 'config'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: false,
    node: process.execPath,
    pid: process.pid,
    ...more,
  };
}
