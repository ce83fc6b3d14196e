// @module-tag all
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/text/json.ts';
import { brokenPromises } from './world/broken-promises.ts';
import type { Cue, Part } from './world/simulated-agents.ts';
import { runWorld, type Crash, type WorldEnd, type WorldPlan } from './world/simulated-world.ts';
import { writtenPlan } from './world/written-plan.ts';
import { some, SPREAD } from '../support/lane.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const WALL = Date.UTC(2026, 10, 20, 22);
const DEADLINE = WALL + 8 * SECOND;
const TASKS = [{ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c', needs: ['b'] }, { id: 'd', needs: ['c'] }];
const TEAM = [
  ['planner', 'planner', 'scripted'],
  ['builder', 'builder', 'claude'],
  ['reviewer', 'reviewer', 'codex'],
] as const;

/** Work for a quarter of a minute, with a deadline in the middle of it. */
function night(more: Partial<WorldPlan> & { plays?: (cue: Cue) => Part | undefined } = {}): Promise<WorldEnd> {
  const { plays, ...rest } = more;
  const plan = writtenPlan({ wall: WALL, team: TEAM, tasks: TASKS, ...(plays === undefined ? {} : { plays }) });
  const objective = { ...plan.definition.objective, deadline: DEADLINE };
  return runWorld({ ...plan, definition: { ...plan.definition, objective }, ...rest });
}

function expectNothingLate(world: WorldEnd): void {
  expect(world.end).toMatchObject({ end: 'stopped', why: expect.stringContaining('22:00:08 UTC has passed') });
  expect(world.agents.starts.length).toBeGreaterThan(0);
  expect(world.agents.starts.filter(({ at }) => at >= DEADLINE)).toEqual([]);
  expect(world.agents.running()).toEqual([]);
  expect(brokenPromises(world)).toEqual([]);
}

describe('a deadline', () => {
  it('lets the turns that run then finish, and starts none after it', async () => {
    const world = await night();
    expectNothingLate(world);
    const settled = world.history.events.filter(({ type }) => type === 'attempt-settled');
    expect(settled.some(({ at }) => at >= DEADLINE)).toBe(true);
    expect(world.ranMs).toBeLessThan(15 * SECOND);
  });

  it('ends a run that waits for a usage limit at that moment, not hours later', async () => {
    const failure = { kind: 'rate-limited', message: 'simulated', mayHaveActed: false, retryAt: WALL + HOUR } as const;
    const plays = ({ runtime }: Cue): Part | undefined =>
      runtime === 'claude' ? { ms: SECOND, result: { outcome: 'failed', failure } } : undefined;
    const world = await night({ plays });
    expectNothingLate(world);
    expect(world.ranMs).toBeLessThan(12 * SECOND);
  });

  const effects = Array.from({ length: 60 }, (_, index) => index + 1);
  const crashes = effects.flatMap((effect) =>
    (['before', 'after'] as const).map((when): Crash => ({ effect, when, downMs: HOUR, reboot: effect % 3 === 0 })),
  );

  it.each(some(crashes, 0, 8))('that passes while its engine is dead ($when effect $effect)', SPREAD, async (crash) => {
    const world = await night({ crashes: [crash] });
    expect(world.end).toMatchObject({ end: 'stopped', why: expect.stringContaining('has passed') });
    expect(world.agents.starts.filter(({ at }) => at >= DEADLINE)).toEqual([]);
    expect(brokenPromises(world)).toEqual([]);
  });

  it('that passes while the machine sleeps', async () => {
    expectNothingLate(await night({ clockFaults: [{ afterMs: 4_300, do: 'suspend', ms: HOUR }] }));
  });

  it.each([
    ['before it', 3 * SECOND],
    ['while its engine is dead', 60 * SECOND],
  ])('is no end where a person says so %s, and stays none after a crash', async (_title, afterMs) => {
    const world = await night({
      cast: (time, stage) => {
        time.after(afterMs, () => void stage.ledger()?.command(stage.run.id, 'past-deadline', {}, 'ada'));
        const plan = writtenPlan({ wall: WALL, team: TEAM, tasks: TASKS });
        return plan.cast(time, stage);
      },
      crashes: [
        { effect: 25, when: 'after', downMs: HOUR, reboot: false },
        { effect: 20, when: 'before', downMs: HOUR, reboot: true },
      ],
    });
    expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(world.agents.starts.some(({ at }) => at >= DEADLINE)).toBe(true);
    const said = world.history.events.filter(({ type, data }) => {
      return type === 'operator-command' && isJsonObject(data) && data['verb'] === 'past-deadline';
    });
    expect(said).toHaveLength(1);
    expect(world.reading.board.pastDeadline).toBe('ada');
  });
});
