import { expect, it } from 'vitest';
import { engineTime } from '../../../src/graph/decisions/engine-time.ts';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { decide, openBench, refusal } from './support.ts';

const MINUTE = 60_000;

it('engine time stands still from a park to the next input, whoever asks', () => {
  const bench = openBench();
  const { ledger, lease, clock } = bench;
  const begun = clock.time;
  const used = (epoch: number | null = lease.epoch): number =>
    engineTime(ledger.segments('r'), epoch, clock.time) / MINUTE;

  clock.time = begun + MINUTE;
  decide(bench, { do: 'park', until: null });
  expect(ledger.segments('r').at(-1)?.parked).toEqual({ ms: 0, from: begun + MINUTE, to: null });
  clock.time = begun + 100 * MINUTE;
  expect(used()).toBe(1);
  // An input that changes nothing: it is parked again.
  decide(bench, { do: 'park', until: null });
  clock.time = begun + 200 * MINUTE;
  expect(used()).toBe(1);
  decide(bench);
  clock.time = begun + 203 * MINUTE;
  expect(used()).toBe(4);

  // Killed while it was parked, seen two minutes later, and given a command long after that.
  decide(bench, { do: 'park', until: 7 });
  clock.time = begun + 205 * MINUTE;
  ledger.renewLease(lease);
  clock.time = begun + 900 * MINUTE;
  ledger.command('r', 'stop', null, 'a person');
  expect(used(null)).toBe(4);
  const next = ledger.acquireLease('r', 'heir');
  clock.time = begun + 901 * MINUTE;
  expect(used(next.epoch)).toBe(5);

  const reader = openLedger(bench.directory, { clock, readOnly: true });
  expect(reader.segments('r')).toEqual(ledger.segments('r'));
  reader.close();
});

it('only the ledger says that a run is parked', () => {
  const { ledger } = openBench();
  expect(refusal(() => ledger.append('r', 'run-parked', null))).toBe('bad-input');
});
