// @module-tag all
import { formOf } from './world/simulated-agents.ts';
import { describe, expect, it } from 'vitest';
import { engineTime } from '../../src/model/spending.ts';
import { isJsonObject } from '../../src/text/json.ts';
import { brokenPromises } from './world/broken-promises.ts';
import { runWorld, type ClockFault, type WorldEnd } from './world/simulated-world.ts';
import { writtenPlan } from './world/written-plan.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = Date.UTC(2026, 10, 20, 12);
const TASKS = [{ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c', needs: ['a'] }];
const TEAM = [
  ['planner', 'planner', 'scripted'],
  ['builder', 'builder', 'claude'],
  ['reviewer', 'reviewer', 'codex'],
] as const;

/** Every timer that was set, with how it ended; a timer that is set again is the same one with another date. */
function timersOf({ history }: WorldEnd): Map<string, { set: number; fired: number }> {
  const timers = new Map<string, { set: number; fired: number }>();
  for (const { type, data } of history.events) {
    if (!isJsonObject(data) || typeof data['id'] !== 'string') continue;
    const timer = timers.get(data['id']) ?? { set: 0, fired: 0 };
    const isPending = timer.set > timer.fired;
    if (type === 'timer-set' && !isPending) timers.set(data['id'], { ...timer, set: timer.set + 1 });
    if (type === 'timer-fired') timers.set(data['id'], { ...timer, fired: timer.fired + 1 });
  }
  return timers;
}

const at = (afterMs: number, what: ClockFault['do'], ms: number): ClockFault[] => [{ afterMs, do: what, ms }];

describe('T16: a run whose clock is disturbed', () => {
  it.each<[string, number, ClockFault[]]>([
    ['an hour forward', DAY, at(3_000, 'step', HOUR)],
    ['an hour back', DAY, at(3_000, 'step', -HOUR)],
    ['a step of NTP', DAY, at(3_000, 'step', -900)],
    ['eight hours of sleep', DAY, at(3_000, 'suspend', 8 * HOUR)],
    ['summer time begins', Date.UTC(2026, 2, 29, 0, 59, 58), []],
    ['summer time ends', Date.UTC(2026, 9, 25, 0, 59, 58), []],
    ['the seconds of 2038 run over', Date.UTC(2038, 0, 19, 3, 14, 5), []],
  ])(
    '%s: it is delivered, no timer is lost or fires twice, and events keep their order',
    async (_, wall, clockFaults) => {
      const plan = writtenPlan({
        wall,
        team: TEAM,
        tasks: TASKS,
        clockFaults,
        // The first turn on a fails twice for a moment, so that there are timers.
        plays: ({ task, number, request }) =>
          task !== 'a' || number > 2 || formOf(request) !== ''
            ? undefined
            : {
                ms: 1_000,
                result: {
                  outcome: 'failed',
                  failure: { kind: 'network', message: 'simulated: network', mayHaveActed: false },
                },
              },
      });
      const world = await runWorld(plan);
      expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
      expect(brokenPromises(world)).toEqual([]);
      const timers = timersOf(world);
      expect(timers.size).toBeGreaterThan(0);
      for (const [id, { set, fired }] of timers) expect([id, fired]).toEqual([id, set]);
      // What the wall clock showed never decides which came first.
      const { applied } = world.reading.row;
      expect(world.history.events.some(({ seq }) => seq === applied)).toBe(true);
      const steps = world.history.steps;
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    },
  );

  it.each([
    ['a limit without a date', 'rate-limited', 2 * MINUTE],
    ['a usage limit without a date', 'quota-exhausted', 20 * MINUTE],
    ['a network that comes back', 'network', MINUTE],
  ] as const)('set back by an hour, it waits no longer for %s', async (_, kind, most) => {
    const failure = { kind, message: 'simulated', mayHaveActed: false };
    const plan = writtenPlan({
      team: TEAM,
      tasks: TASKS,
      clockFaults: at(4_000, 'step', -HOUR),
      plays: ({ task, number, request }) =>
        task !== 'a' || number > 1 || formOf(request) !== ''
          ? undefined
          : { ms: 1_000, result: { outcome: 'failed', failure } },
    });
    const world = await runWorld(plan);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(brokenPromises(world)).toEqual([]);
    const { events } = world.history;
    expect(events.filter(({ type }) => type === 'clock-set-back').map(({ data }) => data)).toEqual([{ ms: HOUR }]);
    expect(world.ranMs).toBeLessThan(most + MINUTE);
  });

  it.each([
    ['an hour forward', at(500, 'step', HOUR)],
    ['eight hours of sleep', at(500, 'suspend', 8 * HOUR)],
  ])('%s: the run’s own minutes are not used up by it, and no agent meets a wall', async (_, clockFaults) => {
    const plan = writtenPlan({ team: TEAM, tasks: TASKS, clockFaults, limits: { minutes: 30 }, turnMs: 5_000 });
    const world = await runWorld(plan);
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(world.reading.walls).toEqual([]);
    expect(engineTime(world.reading.segments)).toBeLessThan(5 * MINUTE);
  });
});
