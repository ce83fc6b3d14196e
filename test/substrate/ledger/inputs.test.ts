import { expect, test } from 'vitest';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { decide, openBench, refusal, squadError, violations } from './support.ts';

test('a timer fires once, when it is due, with what it was set with', () => {
  const bench = openBench();
  const { ledger, lease, clock } = bench;
  const { applied } = decide(bench, { do: 'set-timer', id: 't', dueAt: clock.time + 10, data: { wake: 'a' } });
  expect(ledger.dueTimers(clock.time)).toEqual([]);
  expect(ledger.fireTimer(lease, 't')).toBeUndefined();
  clock.time += 10;
  expect(ledger.dueTimers(clock.time)).toEqual([{ runId: 'r', id: 't', dueAt: clock.time, data: { wake: 'a' } }]);
  const seq = ledger.fireTimer(lease, 't');
  expect(seq).toBe(ledger.lastSeq());
  expect(ledger.fireTimer(lease, 't')).toBeUndefined();
  expect(ledger.events({ after: applied, stream: 'r' }).map((event) => [event.type, event.cause])).toEqual([
    ['timer-set', applied],
    ['timer-fired', null],
  ]);
});

test('a timer can be moved', () => {
  const bench = openBench();
  const { ledger, clock } = bench;
  decide(bench, { do: 'set-timer', id: 't', dueAt: 1, data: 1 }, { do: 'set-timer', id: 't', dueAt: 2, data: 2 });
  expect(ledger.dueTimers(clock.time)).toMatchObject([{ dueAt: 2, data: 2 }]);
  expect(violations(bench.path)).toEqual([]);
});

test('a command comes with its event, from a process that does not drive', () => {
  const { ledger, directory, path } = openBench();
  const version = ledger.dataVersion();
  const other = openLedger(directory, { clock: { now: () => 7 }, ballastBytes: 4096 });
  const command = other.command('r', 'answer', { question: 'q', answer: 'yes' }, 'me');
  other.close();
  expect(command).toMatchObject({ id: 1, verb: 'answer', by: 'me', at: 7, seq: ledger.lastSeq() });
  expect(ledger.dataVersion()).not.toBe(version);
  expect(ledger.events({ after: command.seq - 1 })).toMatchObject([
    { type: 'operator-command', cause: null, epoch: null, data: { id: 1, verb: 'answer', by: 'me' } },
  ]);
  expect(refusal(() => ledger.command('nobody', 'stop', null, 'me'))).toBe('usage');
  expect(violations(path)).toEqual([]);
});

test('a command with the key of another one of its run is that one', () => {
  const { ledger, path } = openBench();
  const first = ledger.command('r', 'pause', { on: 'run' }, 'me', 'k');
  const before = ledger.lastSeq();
  expect(ledger.command('r', 'pause', { on: 'run' }, 'me', 'k')).toEqual(first);
  expect(ledger.lastSeq()).toBe(before);
  ledger.createRun({ id: 'q', name: 'second' });
  expect(ledger.command('q', 'pause', { on: 'run' }, 'me', 'k').seq).toBeGreaterThan(first.seq);
  expect(ledger.command('r', 'pause', { on: 'run' }, 'me').seq).toBeGreaterThan(first.seq);
  expect(violations(path)).toEqual([]);
});

test('what comes from outside names a known stream and none of the types of the ledger', () => {
  const { ledger } = openBench();
  expect(refusal(() => ledger.append('nobody', 'mail', null))).toBe('bad-input');
  expect(refusal(() => ledger.append('r', 'attempt-settled', null))).toBe('bad-input');
  expect(refusal(() => ledger.append('r', '', null))).toBe('bad-input');
  expect(ledger.append('workspace', 'mail', null)).toBe(ledger.lastSeq());
});

test('a run is made once, and its id and name are its own', () => {
  const { ledger } = openBench();
  const before = ledger.lastSeq();
  expect(ledger.createRun({ id: 'r', name: 'first' }).id).toBe('r');
  expect(ledger.lastSeq()).toBe(before);
  expect(squadError(() => ledger.createRun({ id: 'q', name: 'first' })).next).toContain('squad log first');
  expect(refusal(() => ledger.createRun({ id: 'r', name: 'other' }))).toBe('usage');
  expect(refusal(() => ledger.createRun({ id: 'workspace', name: 'other' }))).toBe('bad-input');
  expect(refusal(() => ledger.createRun({ id: 'p', name: '../escape' }))).toBe('bad-input');
  expect(ledger.createRun({ id: 'f', name: 'second' })).toMatchObject({ applied: 0, driver: null });
  expect(ledger.run('second')?.id).toBe('f');
  expect(ledger.runs().map((run) => run.name)).toEqual(['first', 'second']);
  expect(ledger.run('nobody')).toBeUndefined();
});

test('each stretch under a lease is on record, with how long its holder has worked', () => {
  const { ledger, lease, clock } = openBench();
  clock.time += 100;
  ledger.renewLease(lease, 70, { boot: 'b', ms: 5 });
  // Less than it said before is an older word.
  ledger.renewLease(lease, 60);
  clock.time += 1000;
  const next = ledger.acquireLease('r', 'next');
  clock.time += 50;
  ledger.releaseLease(lease, 900);
  ledger.releaseLease(next, 40);
  expect(ledger.segments('r')).toEqual([
    { epoch: 1, holder: 'test', acquiredAt: 1_000_000, workedMs: 70, seen: { boot: 'b', ms: 5 }, releasedAt: null },
    { epoch: 2, holder: 'next', acquiredAt: 1_001_100, workedMs: 40, seen: null, releasedAt: 1_001_150 },
  ]);
});
