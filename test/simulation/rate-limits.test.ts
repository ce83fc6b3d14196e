// @module-tag all
import { describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/text/json.ts';
import { parseRetryAt } from '../../src/text/retry-at.ts';
import { brokenPromises } from './world/broken-promises.ts';
import type { Cue, Part } from './world/simulated-agents.ts';
import { runWorld, type WorldEnd } from './world/simulated-world.ts';
import { writtenPlan } from './world/written-plan.ts';
import { some, SPREAD } from '../support/lane.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

const MINUTE = 60_000;
/** 18:44:30 in Madrid. The storm ends at seven. */
const WALL = Date.UTC(2026, 10, 20, 17, 44, 30);
const RESET = WALL + 15.5 * MINUTE;
const TASKS = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id }));
const TEAM = [
  ['planner', 'planner', 'scripted'],
  ['builder-1', 'builder', 'claude'],
  ['builder-2', 'builder', 'codex'],
  ['builder-3', 'builder', 'claude'],
  ['reviewer-1', 'reviewer', 'claude'],
  ['reviewer-2', 'reviewer', 'codex'],
] as const;

interface Storm {
  readonly name: string;
  readonly kind: 'rate-limited' | 'overloaded';
  /** What the runtime says of the end, as epoch ms; undefined: nothing. */
  readonly says: (now: number) => number | undefined;
  readonly hits: readonly string[];
}

const STORMS: readonly Storm[] = [
  {
    name: 'resets 7pm (Europe/Madrid)',
    kind: 'rate-limited',
    says: (now) => parseRetryAt("You've hit your limit · resets 7pm (Europe/Madrid)", now, 'UTC'),
    hits: ['claude', 'codex'],
  },
  { name: 'Retry-After', kind: 'overloaded', says: () => RESET, hits: ['claude', 'codex'] },
  { name: 'one runtime only', kind: 'rate-limited', says: () => RESET, hits: ['claude'] },
];

function stormy({ kind, says, hits }: Storm) {
  return ({ task, runtime }: Cue, time: VirtualTime): Part | undefined => {
    const now = time.now();
    if (task === 'plan' || !hits.includes(runtime) || now >= RESET) return undefined;
    const retryAt = says(now);
    const failure = { kind, message: 'simulated: limit', mayHaveActed: false };
    return {
      ms: 2_000,
      result: { outcome: 'failed', failure: retryAt === undefined ? failure : { ...failure, retryAt } },
    };
  };
}

function weather(storm: Storm): Promise<WorldEnd> {
  return runWorld(writtenPlan({ wall: WALL, team: TEAM, tasks: TASKS, plays: stormy(storm) }));
}

/** Turns of an account, in the order of their starts, with when each was settled. */
function turnsOf({ agents, history }: WorldEnd, account: string): { start: number; end: number }[] {
  const ends = new Map(
    history.events
      .filter(({ type }) => type === 'attempt-settled')
      .map(({ at, data }) => [isJsonObject(data) ? data['attemptId'] : undefined, at]),
  );
  return agents.starts
    .filter(({ runtime }) => runtime === account)
    .map(({ at, turnId }) => ({ start: at, end: ends.get(turnId) ?? Infinity }));
}

/** Nobody's task failed, and nothing that a limit must not cost was spent. */
function expectNothingBurnt(world: WorldEnd): void {
  expect(world.end).toMatchObject({ end: 'finished', outcome: 'done' });
  for (const { work } of world.reading.board.tasks.values()) {
    expect(work.phase).toMatchObject({ at: 'ended', as: 'done' });
    expect(work.round).toBe(1);
    expect(work.author.used).toMatchObject({ retries: 0, infrastructure: 0, transient: 0, repairs: 0 });
  }
  expect(brokenPromises(world)).toEqual([]);
}

describe('T15: a rate-limit storm of a quarter of an hour', () => {
  it.each(some(STORMS, 0, 1))(
    '$name: one probe, within a minute of the reset, and nothing is burnt',
    SPREAD,
    async (storm) => {
      const world = await weather(storm);
      expectNothingBurnt(world);
      // Whoever is not hit works on.
      const others = ['claude', 'codex'].filter((account) => !storm.hits.includes(account));
      for (const account of others) {
        expect(turnsOf(world, account).filter(({ end }) => end < RESET).length).toBeGreaterThan(1);
      }
      for (const account of storm.hits) {
        const turns = turnsOf(world, account);
        const struck = Math.min(...turns.map(({ end }) => end));
        const waited = turns.filter(({ start }) => start > struck);
        expect(waited.length).toBeGreaterThan(1);
        const [probe, next] = waited;
        expect(probe?.start).toBeGreaterThanOrEqual(RESET);
        expect(probe?.start).toBeLessThan(RESET + MINUTE);
        // Everybody else on the account waits for how it ends.
        expect(next?.start).toBeGreaterThanOrEqual(probe?.end ?? Infinity);
      }
    },
  );

  it('no date at all: one probe at the end of each window, which doubles, and nothing is burnt', async () => {
    const world = await weather({
      name: '',
      kind: 'rate-limited',
      says: () => undefined,
      hits: ['claude', 'codex'],
    });
    expectNothingBurnt(world);
    for (const account of ['claude', 'codex']) {
      const turns = turnsOf(world, account);
      const struck = Math.min(...turns.map(({ end }) => end));
      const probes = turns.filter(({ start, end }) => start > struck && end < RESET);
      // After about 1, 3 and 7 minutes.
      expect(probes.length).toBeGreaterThanOrEqual(3);
      expect(probes.length).toBeLessThanOrEqual(6);
      for (const [index, probe] of probes.entries()) {
        expect(probe.start).toBeGreaterThanOrEqual((probes[index - 1]?.end ?? 0) + MINUTE);
      }
    }
  });
});
