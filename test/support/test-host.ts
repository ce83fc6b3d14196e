import { join } from 'node:path';
import type { Host } from '../../src/compose.ts';

/** This machine for somebody whose home is a folder of the test's own. */
export function testHost(home: string, more: Partial<Host> = {}): Host {
  return {
    environment: { PATH: process.env['PATH'], HOME: home },
    workingDirectory: home,
    userHome: home,
    stateHome: join(home, 'state'),
    configHome: join(home, 'config'),
    platform: process.platform,
    architecture: process.arch,
    isRoot: false,
    node: process.execPath,
    pid: process.pid,
    ...more,
  };
}
