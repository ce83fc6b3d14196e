import { expect, test } from 'vitest';
import { readNight } from '../../src/view/night.ts';
import { definition, play, RecordedRun } from './report/support.ts';

const COST = { usage: { costUsd: 0.5, inputTokens: 1, outputTokens: 1 } } as const;

function nightOf(run: RecordedRun, since: number, lockedBy: { since: number } | null = null) {
  return readNight(run.ledger, since, { lockedBy, now: run.clock.time, playbooks: {} });
}

test('a night has the runs that an engine worked on, with the cost of what ended in it', () => {
  const about = definition();
  const run = new RecordedRun(about).allocate().turn('plan', 1, 'ada', COST);
  const began = run.clock.time;
  run.clock.time += 3_600_000;
  const dusk = run.clock.time;
  run.turn('a', 1, 'bob', COST).turn('a', 2, 'bob', {});
  expect(nightOf(run, dusk, { since: 0 })).toMatchObject({
    ...{ runs: [{ name: 'tidy', state: 'running', why: null, at: null }], turns: 2 },
    ...{ costUsd: 0.5, unknownCostTurns: 1 },
  });
  expect(nightOf(run, 0, { since: 0 })).toMatchObject({ turns: 3, costUsd: 1, unknownCostTurns: 1 });
  run.ledger.renewLease(run.lease, run.clock.time - began);
  run.clock.time += 60_000;
  // Killed: nothing says when, but when it was last seen at work.
  const [gone] = nightOf(run, 0).runs;
  expect(gone).toMatchObject({ state: 'interrupted', why: 'its engine is gone', at: expect.any(Number) });
  expect(gone?.at).toBeLessThan(run.clock.time);
  run.plan(play(about).entries).publish().writeEnd();
  run.clock.time += 1_000;
  run.ledger.releaseLease(run.lease);
  const end = run.clock.time;
  expect(nightOf(run, dusk).runs).toEqual([{ runId: run.id, name: 'tidy', state: 'done', why: null, at: end }]);
  expect(nightOf(run, end + 1).runs).toEqual([]);
});

test('a question is waited for since it was asked, and not since its engine ended', () => {
  const run = new RecordedRun(definition()).allocate().decide('stop', 'usd: 5 of 5 used');
  const asked = run.clock.time;
  run.clock.time += 30_000;
  run.ledger.releaseLease(run.lease);
  run.clock.time += 30_000;
  expect(nightOf(run, asked).runs).toMatchObject([{ state: 'stopped', why: 'usd: 5 of 5 used', at: asked }]);
});

test('a failure is said by its first cause', () => {
  const about = definition();
  const refused = { kind: 'model-refused' as const, message: 'it may not', mayHaveActed: false };
  const failed = play(about, { turn: () => ({ outcome: 'failed', failure: refused }) });
  const run = new RecordedRun(about).allocate().plan(failed.entries).publish().writeEnd();
  run.ledger.releaseLease(run.lease);
  const [one] = nightOf(run, 0).runs;
  expect(one).toMatchObject({ state: 'failed' });
  expect(one?.why).not.toMatch(/^FAILED/);
  expect(one?.why).not.toBe('');
});
