import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import type { Schedule } from '../../src/model/schedule.ts';
import { noteSchedules, scheduleRecord, type ScheduleRecord } from '../../src/squad/service/schedule-record.ts';
import { findService } from '../../src/squad/service/service-lock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { newStateOf, stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const DAY = 86_400_000;
const AGENTS = ['planner', 'builder', 'reviewer'].map((role) => ({
  ...{ name: `${role}-1`, role, runtime: 'scripted' },
  access: role === 'builder' ? 'edit' : 'read-only',
}));

export const NIGHTLY: Schedule = { name: 'nightly', cron: '0 2 * * *', timezone: 'UTC', objective: 'objective.md' };

export interface ServeBench extends RunBench {
  /** Its settings with these schedules. */
  schedule(schedules: readonly Schedule[], more?: Readonly<Record<string, unknown>>): void;
  /** `squad serve --detach`; the process of the service. */
  serve(environment?: Record<string, string>): Promise<number>;
  log(): string;
  record(name: string): ScheduleRecord | undefined;
  /** By name. */
  states(): Promise<Record<string, string>>;
}

/**
 * A repository whose agents play a script, with schedules that a person has agreed to, and a service that was away for two days: the newest
 * slot of each is due.
 */
export async function openServeBench(
  schedules: readonly Schedule[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<ServeBench> {
  const script = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];
  const bench = openRunBench({ script });
  const file = join(bench.repository, 'squad.yaml');
  const { runtimes } = JSON.parse(readFileSync(file, 'utf8')) as { runtimes: unknown };
  const schedule: ServeBench['schedule'] = (list, others = {}) =>
    bench.settings({ runtimes, agents: AGENTS, ...(list.length > 0 ? { schedules: list } : {}), ...others });
  schedule(schedules, more);
  const ledger = openLedger(newStateOf(bench.repository), { clock: createSystemClock() });
  noteSchedules(ledger, schedules, Date.now() - 2 * DAY);
  ledger.close();
  const checked = await bench.run(['serve', 'check', '--yes']);
  if (checked.code !== 0) throw new Error(checked.stderr);
  const log = (): string => {
    const path = join(stateOf(bench.repository), 'service', 'service.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  };
  return {
    ...bench,
    schedule,
    log,
    serve: async (environment = {}) => {
      const { lines, stderr } = await bench.start(['serve', '--detach', '--json'], environment).finished;
      const pid = lines[0]?.['pid'];
      if (typeof pid !== 'number') throw new Error(stderr);
      return pid;
    },
    record: (name) => {
      const open = openLedger(stateOf(bench.repository), { clock: createSystemClock(), readOnly: true });
      try {
        return scheduleRecord(open, name);
      } finally {
        open.close();
      }
    },
    states: async () => {
      const { lines } = await bench.run(['runs', '--json']);
      return Object.fromEntries(lines.map(({ name, state }) => [String(name), String(state)]));
    },
    end: () => {
      const pid = findService(stateOf(bench.repository))?.holder?.pid;
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
      bench.end();
    },
  };
}

/** Waits until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what: () => unknown, most = 90_000): Promise<void> {
  for (const end = Date.now() + most; !(await isSo()); await sleep(100))
    if (Date.now() > end) throw new Error(`not within ${most} ms: ${JSON.stringify(await what(), undefined, 1)}`);
}
