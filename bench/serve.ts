import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { rowOf, type Bench } from './shared/row.ts';
import { processesOf, textOf } from './shared/run-processes.ts';
import { createRepository, LAUNCHER } from './shared/scripted-room.ts';

/** Its start is over, and V8 has given back the memory of that. */
const SETTLED_MS = 15_000;
const WATCHED_MS = 60_000;
const QUICK_MS = 30_000;
/** The kernel counts in hundredths of a second for every program. */
const TICKS_A_SECOND = 100;

/** Memory and CPU of `squad serve` that has a schedule and nothing to do, beside a Node that only waits. */
export const serve: Bench = {
  name: 'serve',
  run: async (folder, { isQuick }) => {
    const repository = join(folder, 'repository');
    // Its slot comes on one day of the year, at night.
    const schedule = { name: 'yearly', cron: '0 3 29 2 *', timezone: 'UTC', objective: 'go' };
    createRepository(repository, 1, { 'squad.yaml': stringify({ version: 1, schedules: [schedule] }) });
    const wait = join(folder, 'wait.mjs');
    writeFileSync(wait, 'setInterval(() => undefined, 1_000_000);\n');
    const env = { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') };
    const start = (...args: string[]) => spawn(process.execPath, args, { cwd: repository, env, stdio: 'ignore' });
    const both = [start(LAUNCHER, 'serve'), start(wait)];
    try {
      await sleep(SETTLED_MS);
      const from = performance.now();
      const before = both.map(({ pid = 0 }) => ticksOf(pid));
      await sleep(isQuick ? QUICK_MS : WATCHED_MS);
      const seconds = (performance.now() - from) / 1000;
      const [squad = NaN, bare = NaN] = both.map(
        ({ pid = 0 }, index) => ((ticksOf(pid) - (before[index] ?? NaN)) / TICKS_A_SECOND / seconds) * 100,
      );
      const [memory = NaN, idle = NaN] = both.map(({ pid = 0 }) => residentMb(pid));
      if (both.some(({ exitCode }) => exitCode !== null)) throw new Error('squad serve ended by itself');
      return [
        rowOf('memory of a service that waits (RSS), beside a Node that waits', 'MB', memory, idle, {
          target: { of: 'squad', most: 95 },
        }),
        rowOf('its CPU', '% of a core', squad, Math.max(bare, 100 / TICKS_A_SECOND / seconds), {
          target: { of: 'squad', most: 0.5 },
        }),
      ];
    } finally {
      await Promise.all(both.map(async (child) => endOf(child)));
    }
  },
};

/** With those of the children that it has waited for. */
function ticksOf(pid: number): number {
  return processesOf(pid, []).reduce((sum, { ticks }) => sum + ticks, 0);
}

function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(textOf(`${pid}/status`))?.[1] ?? NaN) / 1024;
}

async function endOf(child: ReturnType<typeof spawn>): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
