import { expect, test } from 'vitest';
import type { Lease } from '../../../src/substrate/ports/ledger.ts';
import { openBench, refusal, squadError } from './support.ts';

test('a lease says on record whom it takes the run from; one that was given back is taken from nobody', () => {
  const { ledger } = openBench();
  const second = ledger.acquireLease('r', 'second');
  expect(second).toEqual({ runId: 'r', epoch: 2 });
  ledger.releaseLease(second);
  ledger.acquireLease('r', 'third');
  expect(ledger.events({ stream: 'r' }).filter(({ type }) => type === 'lease-acquired')).toMatchObject([
    { epoch: 1, data: { holder: 'test', epoch: 1, takenOver: null } },
    { epoch: 2, data: { holder: 'second', epoch: 2, takenOver: 'test' } },
    { epoch: 3, data: { holder: 'third', epoch: 3, takenOver: null } },
  ]);
});

test('nobody drives a run that is not there', () => {
  const { ledger } = openBench();
  const last = ledger.lastSeq();
  expect(squadError(() => ledger.acquireLease('x', 'test'))).toMatchObject({
    code: 'usage',
    message: 'There is no run x.',
  });
  expect([ledger.lastSeq(), ledger.segments('x')]).toEqual([last, []]);
});

test('epochs are each run’s own', () => {
  const { ledger, lease } = openBench();
  ledger.createRun({ id: 'o', name: 'other' });
  const other = ledger.acquireLease('o', 'elsewhere');
  expect(other).toEqual({ runId: 'o', epoch: 1 });
  ledger.acquireLease('o', 'next');
  ledger.renewLease(lease, 5);
  expect(refusal(() => ledger.renewLease(other, 5))).toBe('lease-fenced');
  expect(ledger.segments('r')).toMatchObject([{ holder: 'test', workedMs: 5 }]);
  expect(ledger.segments('o')).toMatchObject([{ holder: 'elsewhere', workedMs: 0 }, { holder: 'next' }]);
});

test.each<[string, Lease, string]>([
  ['that was taken over', { runId: 'r', epoch: 1 }, 'second took over'],
  ['that was given back', { runId: 'r', epoch: 2 }, 'it was released'],
  ['that nobody was given yet', { runId: 'r', epoch: 3 }, 'second took over'],
  ['of a run that nobody drives', { runId: 'idle', epoch: 1 }, 'it was released'],
])('a lease %s is fenced, with who has the run and where to look', (_title, lease, why) => {
  const { ledger } = openBench();
  ledger.createRun({ id: 'idle', name: 'idle' });
  ledger.releaseLease(ledger.acquireLease('r', 'second'));
  expect(squadError(() => ledger.renewLease(lease, 1))).toMatchObject({
    code: 'lease-fenced',
    message: `This process no longer drives run ${lease.runId}: ${why}. Nothing was written.`,
    next: `Look at it with \`squad status ${lease.runId}\`.`,
  });
});

test('a lease is given back once, by its holder; what is said later changes nothing', () => {
  const { ledger, lease, clock } = openBench();
  const idle = ledger.createRun({ id: 'idle', name: 'idle' });
  ledger.releaseLease({ runId: idle.id, epoch: 1 }, 9);
  clock.time += 10;
  ledger.releaseLease(lease, 8);
  clock.time += 10;
  ledger.releaseLease(lease, 900);
  const next = ledger.acquireLease('r', 'next');
  ledger.releaseLease({ runId: 'r', epoch: 1 }, 900);
  expect(ledger.segments('idle')).toEqual([]);
  expect(ledger.segments('r')).toEqual([
    { epoch: 1, holder: 'test', acquiredAt: 1_000_000, workedMs: 8, seen: null, releasedAt: 1_000_010 },
    { epoch: next.epoch, holder: 'next', acquiredAt: 1_000_020, workedMs: 0, seen: null, releasedAt: null },
  ]);
});
