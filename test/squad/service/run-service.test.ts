import { renameSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMachine } from '../../../src/engine/machine.ts';
import type { SharedLimits } from '../../../src/model/shared-limits.ts';
import { recordLimits } from '../../../src/substrate/ledger/record-limits.ts';
import { redactorOf } from '../../../src/model/redaction/redactor.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import { runService, type ServicePorts } from '../../../src/squad/service/run-service.ts';
import { recordRun, scheduleRecord, type ScheduleRecord } from '../../../src/squad/service/schedule-record.ts';
import { lockService } from '../../../src/squad/service/service-lock.ts';
import { holderHere, lockWorkspace } from '../../../src/substrate/ledger/index.ts';
import { roomForTest } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { newStateOf } from '../../support/state.ts';
import { testHost } from '../../support/test-host.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';
import { ALL } from '../../support/lane.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-28T12:00:30Z');

type Settings = readonly Readonly<Record<string, string>>[];

/** A service in this process, whose clock jumps from one look to the next. */
async function serviceFor(schedules: Settings, { withRun = false, withTurn = false } = {}) {
  const room = roomForTest();
  const { repository, root } = room;
  const settings = (list: Settings): void =>
    writeFileSync(join(repository, 'squad.yaml'), JSON.stringify({ version: 1, schedules: list }));
  if (schedules.length > 0) settings(schedules);
  if (withRun) new RecordedRun(definition(), newStateOf(repository)).allocate().close();
  if (withTurn) {
    const run = new RecordedRun(definition(), newStateOf(repository)).allocate();
    run.clock.time = START - 60_000;
    run.turn('a', 1, 'builder-1', {}).close();
  }
  const host = testHost(root, { workingDirectory: repository });
  const machine = openMachine(host);
  let now = START;
  const ending = new AbortController();
  const steps: { at: number; act: () => void }[] = [];
  const clock = {
    now: () => now,
    monotonic: () => now - START,
    sleep: async (ms: number) => {
      now += ms;
      for (const step of steps.splice(0)) {
        if (step.at <= now) step.act();
        else steps.push(step);
      }
      await setImmediate();
    },
  };
  const workspace = bindWorkspace(await openWorkspace({ host, composition: { ...machine, clock } }));
  const lock = lockService(workspace.directory, holderHere(process.pid, now));
  const said: string[] = [];
  const ledger = { ...workspace, composition: { ...workspace.composition, redactor: () => redactorOf({}, []) } };
  const ports: ServicePorts = {
    ...{ workspace, redactor: redactorOf({}, []), stopped: ending.signal, say: (text) => void said.push(text) },
    startEngine: () => ({ pid: 1, ended: Promise.resolve({ code: 0 }) }),
    submitSlot: () => Promise.reject(new Error('no slot is expected')),
    stepTeam: () => Promise.reject(new Error('there is no team')),
    settingsFiles: [join(repository, 'squad.yaml')],
    recordLimits: () => Promise.resolve(undefined),
    hostChannels: () => Promise.reject(new Error('there are no channels')),
  };
  return {
    ...{ repository, settings, said, now: () => now, directory: workspace.directory },
    at: (ms: number, act: () => void) => void steps.push({ at: START + ms, act }),
    end: () => ending.abort(),
    stepClock: (ms: number) => void (now += ms),
    /** As the process that submits a slot does. */
    submitted: async (name: string, slot: number, head = 'c0ffee') =>
      withLedger(ledger, 'write', (open) =>
        recordRun(open, name, { slot, at: now, run: `run-${slot}`, name: 'n', head }),
      ),
    /** As the process that records the limits of all runs does. */
    limit: async (limits: SharedLimits) =>
      withLedger(ledger, 'write', (open) => recordLimits(open, { timezone: 'UTC', limits })),
    record: async (name: string): Promise<ScheduleRecord | undefined> =>
      withLedger(ledger, 'read', (open) => scheduleRecord(open, name)),
    serve: async (ms: number, more: Partial<ServicePorts>) => {
      steps.push({ at: now + ms, act: () => ending.abort() });
      try {
        await runService({ ...ports, ...more });
      } finally {
        lock.release();
      }
    },
  };
}

const tenth = { name: 'tenth', cron: '*/10 * * * *', timezone: 'UTC', objective: 'a' };
const minute = (slot: number): string => new Date(slot).toISOString().slice(11, 16);

describe('the service', () => {
  it('submits each slot once, also over a clock that is set back by half an hour', async () => {
    const service = await serviceFor([tenth]);
    const slots: string[] = [];
    service.at(0.5 * HOUR, () => service.stepClock(-0.5 * HOUR));
    await service.serve(HOUR, {
      submitSlot: async (name, slot) => {
        slots.push(minute(slot));
        await service.submitted(name, slot);
        return 'queued';
      },
    });
    expect(slots).toEqual(['12:10', '12:20', '12:30', '12:40', '12:50', '13:00']);
  });

  it('takes the next slot once a clock that was weeks ahead is right again', async () => {
    const service = await serviceFor([tenth]);
    const slots: string[] = [];
    service.at(0.25 * HOUR, () => service.stepClock(30 * 24 * HOUR));
    service.at(30 * 24 * HOUR + 0.3 * HOUR, () => {
      service.stepClock(-30 * 24 * HOUR);
      service.at(0.8 * HOUR, service.end);
    });
    await service.serve(31 * 24 * HOUR, {
      submitSlot: async (name, slot) => {
        slots.push(new Date(slot).toISOString().slice(5, 16));
        await service.submitted(name, slot);
        return 'queued';
      },
    });
    expect(slots).toEqual(['11-28T12:10', '12-28T12:10', '11-28T12:20', '11-28T12:30', '11-28T12:40']);
  });

  it('tries a slot again while the repository is busy, and records one that never works', async () => {
    const service = await serviceFor([{ ...tenth, cron: '0 * * * *' }]);
    const tried: number[] = [];
    await service.serve(1.5 * HOUR, {
      submitSlot: () => {
        tried.push(service.now());
        return Promise.resolve('the repository is locked');
      },
    });
    expect(tried).toHaveLength(5);
    expect(tried.map((at, index) => Math.round((at - (tried[index - 1] ?? at)) / 10_000))).toEqual([0, 1, 2, 4, 8]);
    expect((await service.record('tenth'))?.left).toEqual([
      expect.objectContaining({ outcome: 'failed', why: 'the repository is locked' }),
    ]);
  });

  it('skips a slot while HEAD is the commit of the last run, and submits the next one after a commit', async () => {
    const service = await serviceFor([{ ...tenth, skipIf: 'unchanged' }]);
    const head = (): string => git(service.repository, 'rev-parse', 'HEAD').trim();
    const slots: string[] = [];
    service.at(0.6 * HOUR, () => void git(service.repository, 'commit', '-q', '--allow-empty', '-m', 'more'));
    await service.serve(0.99 * HOUR, {
      submitSlot: async (name, slot) => {
        slots.push(minute(slot));
        await service.submitted(name, slot, head());
        return 'queued';
      },
    });
    expect(slots).toEqual(['12:10', '12:40']);
    const left = (await service.record('tenth'))?.left ?? [];
    expect(left.map(({ slot, outcome }) => `${minute(slot)} ${outcome}`)).toEqual([
      '12:50 skipped',
      '12:30 skipped',
      '12:20 skipped',
    ]);
  });

  it('keeps its schedules while squad.yaml is wrong, and takes new ones without a restart', async () => {
    const service = await serviceFor([tenth]);
    const slots: string[] = [];
    service.at(0.2 * HOUR, () => service.settings([{ ...tenth, cron: 'often' }]));
    service.at(0.5 * HOUR, () => service.settings([tenth, { ...tenth, name: 'other', cron: '55 * * * *' }]));
    await service.serve(0.95 * HOUR, {
      submitSlot: async (name, slot) => {
        slots.push(`${name} ${minute(slot)}`);
        await service.submitted(name, slot);
        return 'queued';
      },
    });
    expect(slots.filter((one) => one.startsWith('tenth'))).toHaveLength(5);
    expect(slots.at(-1)).toBe('other 12:55');
    expect(service.said.filter((line) => line.includes('the schedules stay as they were'))).toHaveLength(1);
  });

  it('starts an engine while a run can move, less and less often if that ends in vain', async () => {
    const service = await serviceFor([], { withRun: true });
    const started: number[] = [];
    const startEngine = () => {
      started.push(service.now());
      return { pid: 1, ended: Promise.resolve({ code: started.length > 3 ? null : 0 }) };
    };
    await service.serve(HOUR, { startEngine });
    const pauses = started.map((at, index) => Math.round((at - (started[index - 1] ?? at)) / 1_000));
    expect(pauses.slice(0, 7)).toEqual([0, 1, 2, 4, 8, 16, 32]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(301);
    expect(started.length).toBeLessThan(25);
  });

  it('starts no engine while another one drives the runs, and one within five seconds of its end', async () => {
    const service = await serviceFor([], { withRun: true });
    const lock = lockWorkspace(service.directory, holderHere(process.pid, START));
    const started: number[] = [];
    service.at(30_000, () => lock.release());
    await service.serve(40_000, {
      startEngine: () => {
        started.push(service.now() - START);
        return { pid: 1, ended: new Promise(() => undefined) };
      },
    });
    expect(started).toEqual([expect.toSatisfy((at: number) => at >= 30_000 && at <= 36_000)]);
  });

  it(
    'submits no slot and starts no engine while a cap of the day is reached, and the newest slot at midnight',
    ALL,
    async () => {
      const service = await serviceFor([tenth], { withTurn: true });
      const acts: string[] = [];
      let limits: SharedLimits = { turnsPerDay: 1 };
      const recorded: string[] = [];
      const act = (what: string): void =>
        void acts.push(`${new Date(service.now()).toISOString().slice(0, 19)} ${what}`);
      service.at(2 * HOUR, () => {
        limits = { turnsPerDay: 1, runsPerDay: 5 };
        service.settings([tenth]);
      });
      await service.serve(12.2 * HOUR, {
        recordLimits: async () => {
          await service.limit(limits);
          recorded.push(new Date(service.now()).toISOString().slice(11, 16));
          return 'as was said';
        },
        startEngine: () => {
          act('engine');
          return { pid: 1, ended: new Promise(() => undefined) };
        },
        submitSlot: async (name, slot) => {
          act(`slot of ${minute(slot)}`);
          await service.submitted(name, slot);
          return 'queued';
        },
      });
      expect(acts).toEqual([
        '2026-11-29T00:00:00 slot of 00:00',
        '2026-11-29T00:00:00 engine',
        '2026-11-29T00:10:00 slot of 00:10',
      ]);
      expect(recorded).toEqual(['12:00', '14:00']);
      expect(service.said).toContain('as was said');
    },
  );

  it('starts an engine within seconds of the end of another one that was killed', async () => {
    const service = await serviceFor([]);
    const run = new RecordedRun(definition(), service.directory).allocate();
    const started: number[] = [];
    // It writes nothing more.
    service.at(30_000, () => run.lock.release());
    await service.serve(40_000, {
      startEngine: () => {
        started.push(service.now() - START);
        return { pid: 1, ended: new Promise(() => undefined) };
      },
    });
    expect(started).toEqual([expect.toSatisfy((at: number) => at >= 30_000 && at <= 36_000)]);
  });

  it('ends with an error once the repository is gone', async () => {
    const service = await serviceFor([]);
    const elsewhere = `${service.repository}-elsewhere`;
    service.at(10_000, () => renameSync(service.repository, elsewhere));
    try {
      await expect(service.serve(60_000, {})).rejects.toThrow(`${service.repository} is gone`);
    } finally {
      renameSync(elsewhere, service.repository);
    }
  });
});
