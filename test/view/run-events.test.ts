// @module-tag all
import { describe, expect, it } from 'vitest';
import { runEventSchema, TURN_EVENTS, type RunEvent } from '../../src/model/run-event.ts';
import { openRunEvents, type RunEvents } from '../../src/view/run-events.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';

import { ALL, SPREAD, spread } from '../support/lane.ts';
import { oraclePlan } from '../simulation/oracle/oracle-plan.ts';
import { runWorld } from '../simulation/world/simulated-world.ts';

const SEEDS = Array.from({ length: 12 }, (_, index) => index + 1);

/** The output of live turns and warnings about the machine are not in the ledger. */
function isOnRecord({ type }: RunEvent): boolean {
  return type !== 'warning' && !TURN_EVENTS.some((one) => one === type);
}

interface Watched {
  /** What each engine showed while it lived. */
  readonly engines: readonly (readonly RunEvent[])[];
  /** What a view in another process showed, which was there all along. */
  readonly outside: readonly RunEvent[];
  /** What a view shows that is opened at the end. */
  readonly late: readonly RunEvent[];
}

async function watch(seed: number, crashes: boolean): Promise<Watched> {
  const engines: RunEvent[][] = [];
  const outside: RunEvent[] = [];
  let view: RunEvents | undefined;
  let close = (): void => undefined;
  const plan = oraclePlan(seed);
  const { shown } = await runWorld({
    ...plan,
    crashes: crashes ? plan.crashes : [],
    onEvent: (event, engine, folder) => {
      if (view === undefined) {
        const ledger = openLedger(folder, { clock: { now: () => 0 }, readOnly: true });
        close = () => ledger.close();
        view = openRunEvents(ledger, event.runId);
      }
      (engines[engine] ??= []).push(event);
      outside.push(...view.look());
    },
  }).finally(() => close());
  const late = shown.events.filter(isOnRecord);
  return { engines: engines.map((events) => events.filter(isOnRecord)), outside: outside.filter(isOnRecord), late };
}

function kindsOf(events: readonly RunEvent[]): Set<string> {
  return new Set(events.map(({ type }) => type));
}

describe('a view of a run', { timeout: 300_000 }, () => {
  it('that is opened at the end shows what the engine showed as it happened', SPREAD, async () => {
    const kinds = new Set<string>();
    for (const seed of SEEDS.slice(0, spread(4, 12))) {
      const { engines, late } = await watch(seed, false);
      expect(engines.flat(), `seed ${seed}`).toEqual(late);
      for (const kind of kindsOf(late)) kinds.add(kind);
    }
    const all = ['attempt-ended', 'attempt-taken', 'decided', 'gate-checked', 'mail', 'review-round', 'task-changed'];
    expect([...kinds]).toEqual(expect.arrayContaining(all));
  });

  it('shows the same after crashes, whether it was there all along or is opened at the end', ALL, async () => {
    let crashed = 0;
    for (const seed of SEEDS.slice(0, spread(3, 12))) {
      const { engines, outside, late } = await watch(seed, true);
      crashed += engines.length > 1 ? 1 : 0;
      expect(late.slice(0, outside.length), `seed ${seed}`).toEqual(outside);
      // An engine that dies may die before it shows its last step; what it showed is a part of the whole, without a gap.
      for (const shown of engines) {
        const first = late.findIndex((event) => JSON.stringify(event) === JSON.stringify(shown[0]));
        expect(late.slice(first, first + shown.length), `seed ${seed}`).toEqual(shown);
      }
    }
    expect(crashed).toBeGreaterThan(0);
  });

  it('has events of the public schema', async () => {
    const { late } = await watch(1, true);
    expect(late.filter((event) => !runEventSchema.safeParse(event).success)).toEqual([]);
  });
});
