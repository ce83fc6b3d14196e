import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import type { Clock } from '../ports/clock.ts';
import type { Processes } from '../ports/processes.ts';
import { endTurn, sweep } from './end-turn.ts';
import { waitForEnding } from './ending.ts';
import { createIsolation } from './isolation.ts';
import { isAlive } from './process-table.ts';
import { createHelperRunner } from './run-helper.ts';
import { spawnTurn } from './spawn-turn.ts';
import { tailFile } from './tail.ts';
import { trimOutput } from './trim-output.ts';

/**
 * The operating system's processes. Methods that must identify a process need Linux's /proc; elsewhere they reject with a
 * SquadError that names the platform. Tailing, sizes and helpers work everywhere.
 */
export function createSystemProcesses(settings: { clock: Clock; platform?: NodeJS.Platform }): Processes {
  const { clock, platform = process.platform } = settings;
  const isolation = createIsolation();

  function requireLinux(): void {
    if (platform === 'linux') return;
    throw new SquadError({
      code: 'wrong-environment',
      message: `Agents cannot be run safely on ${platform} yet: squad tells processes apart by Linux's /proc.`,
      next: 'Run squad on Linux, in a container, or in WSL.',
    });
  }

  return {
    async spawnTurn(spawn) {
      requireLinux();
      return spawnTurn(spawn, (await isolation()).before({ keepsUser: spawn.keepsUser === true }), clock);
    },
    async isolation() {
      requireLinux();
      return (await isolation()).says;
    },
    async isAlive(identity) {
      requireLinux();
      return isAlive(identity);
    },
    async waitForEnding(identity, directory, signal) {
      requireLinux();
      return waitForEnding(identity, directory, signal, clock);
    },
    async endTurn(identity, directory, ladder) {
      requireLinux();
      return endTurn(identity, directory, ladder, clock);
    },
    async sweep(marker) {
      requireLinux();
      return sweep(marker, clock);
    },
    tail: (path, ended) => tailFile(path, ended, clock),
    async outputBytes(directory) {
      const sizes = await Promise.all(['stdout', 'stderr'].map((name) => sizeOf(join(directory, name))));
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async trimOutput(directory, keepBytes) {
      const parts = { head: keepBytes / 2, tail: keepBytes / 2 };
      const dropped = await Promise.all(['stdout', 'stderr'].map((name) => trimOutput(join(directory, name), parts)));
      return dropped.reduce((sum, bytes) => sum + bytes, 0);
    },
    run: createHelperRunner(clock, platform),
  };
}

/** 0 until the agent is released, because its output files do not exist yet. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}
