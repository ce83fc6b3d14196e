// @module-tag all
import { describe, expect, it } from 'vitest';
import { hurriedClock } from '../runtimes/shared/player-bench.ts';
import { allowedMs } from '../support/busy-machine.ts';
import { CLIS, laneOf, openChaosBench } from './chaos-bench.ts';
import { some, SPREAD } from '../support/lane.ts';

/** A watchdog may fire this much after its limit (bar T11). */
const LATE_MS = 2000;

// Once more for a machine that was busy elsewhere in just these two seconds.
describe.concurrent.each(CLIS)('T11 a hung %s', { retry: 1, timeout: 300_000 }, (cli) => {
  const lane = laneOf(cli);
  it.for(some(['hangs-silently', 'hangs-after-start'], 0, 1))(
    '%s: the idle limit ends it in time',
    laneOf(cli, SPREAD),
    async (mode, test) => {
      const result = await openChaosBench(test, { mode }).run(cli, {}, { idleMs: 1500 });
      expect(result).toMatchObject({ outcome: 'timed-out', failure: { kind: 'stalled' } });
      expect(result.durationMs).toBeGreaterThanOrEqual(1500);
      expect(result.durationMs).toBeLessThan(1500 + allowedMs(LATE_MS));
    },
  );

  it.for(some(['babbles', 'mutters'], 0, 1))(
    '%s: the total limit ends it in time, the idle one does not',
    laneOf(cli, SPREAD),
    async (mode, test) => {
      const result = await openChaosBench(test, { mode }).run(cli, {}, { idleMs: 1200, wallMs: 2500 });
      expect(result).toMatchObject({ outcome: 'timed-out', failure: { kind: 'wall-timeout' } });
      expect(result.durationMs).toBeGreaterThanOrEqual(2500);
      expect(result.durationMs).toBeLessThan(2500 + allowedMs(LATE_MS));
    },
  );

  // Each agent of the protocol tells its retries in its own way, or not at all; `agy` does not.
  it.skipIf(cli === 'acp' || cli === 'agy')(
    'retries-forever: the patience with retries ends it, with their cause',
    lane,
    async (test) => {
      const result = await openChaosBench(test, { mode: 'retries-forever' }).run(cli, {}, { retryMs: 1000 });
      expect(result).toMatchObject({ outcome: 'failed', failure: { kind: 'overloaded', mayHaveActed: false } });
      expect(result.durationMs).toBeLessThan(1000 + allowedMs(LATE_MS));
    },
  );

  it.runIf(cli === 'acp')('never-exits: its host ends it at once, and its result is kept', async (test) => {
    const result = await openChaosBench(test, { mode: 'never-exits', text: 'It is done.' }).run(cli);
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', usage: { outputTokens: 40 } });
    expect(result.durationMs).toBeLessThan(allowedMs(LATE_MS + 3000));
  });

  // The host of a conversation ends its agent two seconds after the result.
  it.skipIf(cli === 'acp')('never-exits: ended 30 s after its result, which is kept', lane, async (test) => {
    const factor = 20;
    const bench = openChaosBench(test, { mode: 'never-exits', text: 'It is done.' }, { clock: hurriedClock(factor) });
    const result = await bench.run(cli);
    expect(result).toMatchObject({ outcome: 'completed', text: 'It is done.', usage: { outputTokens: 40 } });
    // By the hurried clock, as the watchdog's patience is.
    expect(result.durationMs).toBeGreaterThan(30_000);
    expect(result.durationMs).toBeLessThan(30_000 + allowedMs(LATE_MS) * factor);
  });
});
