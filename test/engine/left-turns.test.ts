import { describe, expect, it } from 'vitest';
import { leftTurnsText } from '../../src/engine/left-turns.ts';
import { claim, decide, openBench, result } from '../substrate/ledger/support.ts';

const NAMES = { runId: 'r', name: 'my-run' };

describe('an engine that gives up says which turns it leaves running', () => {
  it.each([
    [[true, true], 'still running without an engine: a-0 (pid 4000000), a-1 (pid 4000001).'],
    [[false, true], 'still running without an engine: a-1 (pid 4000001).'],
    [[false, false], undefined],
  ])('alive: %j', async (alive, expected) => {
    const bench = openBench();
    decide(bench, ...alive.map((_, place) => claim(`a-${place}`, `t${place}`)), claim('a-9', 't9'));
    for (const [place] of [...alive, true].entries()) {
      const id = place === alive.length ? 'a-9' : `a-${place}`;
      bench.ledger.markSpawned(
        bench.lease,
        id,
        { pid: 4_000_000 + place, startTime: '1', bootId: 'one', marker: id },
        5,
      );
    }
    // Whatever lives of a settled turn is not left by this engine.
    bench.ledger.settle(bench.lease, 'a-9', result());
    const processes = { isAlive: ({ pid }: { pid: number }) => Promise.resolve(alive[pid - 4_000_000] ?? true) };
    const ports = { ledger: bench.ledger, processes } as unknown as Parameters<typeof leftTurnsText>[0];
    const text = await leftTurnsText(ports, NAMES);
    expect(text?.replace(/ `squad resume.*$/, '')).toBe(expected);
    if (expected !== undefined) expect(text).toContain('`squad stop my-run` ends them');
  });

  it('says that turns may run where the ledger cannot tell', async () => {
    const attempts = (): never => {
      throw new Error('database disk image is malformed');
    };
    const ports = { ledger: { attempts }, processes: {} } as unknown as Parameters<typeof leftTurnsText>[0];
    expect(await leftTurnsText(ports, NAMES)).toContain('turns may still be running');
  });
});
