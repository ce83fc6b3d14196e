import { expect, test } from 'vitest';
import { foldRun } from './fold.ts';
import { stepsIn } from '../../support/replay/steps.ts';
import { claim, decide, openBench, refusal, result, squadError, usage, violations } from './support.ts';

test('a step writes its decisions with their cause, moves the cursor and remembers its driver', () => {
  const { ledger, lease, first } = openBench();
  const before = ledger.lastSeq();
  const decisions = [{ do: 'record', type: 'task-added', data: { id: 'a' } } as const, claim('a-1', 'a')];
  const answer = ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions });
  expect(answer).toEqual({
    applied: first,
    claims: [{ claimed: true, attemptId: 'a-1', number: 1 }],
    repeated: false,
  });
  expect(ledger.run('r')).toMatchObject({ applied: first, driver: 'c1' });
  expect(ledger.events({ after: before }).map(({ type, cause, epoch }) => ({ type, cause, epoch }))).toEqual([
    { type: 'task-added', cause: first, epoch: 1 },
    { type: 'attempt-claimed', cause: first, epoch: 1 },
  ]);
});

test.each(['', '..', '.', '../a-1', 'a/b', '/a', '-a', '1', 'A-1', 'a..b', 'a\n', 'a'.repeat(129)])(
  'an attempt cannot be called %j: its folder is removed and its marker is killed by that name',
  (id) => {
    const bench = openBench();
    const last = bench.ledger.lastSeq();
    expect(refusal(() => decide(bench, claim(id)))).toBe('bad-input');
    expect(bench.ledger.attempts({})).toEqual([]);
    expect(bench.ledger.lastSeq()).toBe(last + 1);
  },
);

test('a crash retry by the same driver gets the stored answer and writes nothing', () => {
  const { ledger, lease, first } = openBench();
  const input = { lease, cursor: 0, seq: first, driver: 'c1', decisions: [claim('a-1')] };
  const answer = ledger.apply(input);
  const last = ledger.lastSeq();
  expect(ledger.apply(input)).toEqual({ ...answer, repeated: true });
  expect(ledger.lastSeq()).toBe(last);
});

test('one checkpoint may drive several steps, and all of them are retried as one line', () => {
  const { ledger, lease, first } = openBench();
  const second = ledger.append('r', 'poke', null);
  const steps = [
    { lease, cursor: 0, seq: first, driver: 'c1', decisions: [claim('a-1', 'a')] },
    { lease, cursor: first, seq: first, driver: 'c1', decisions: [claim('b-1', 'b')] },
    { lease, cursor: first, seq: second, driver: 'c1', decisions: [claim('c-1', 'c')] },
  ];
  const answers = steps.map((step) => ledger.apply(step));
  expect(answers.map((answer) => answer.repeated)).toEqual([false, false, false]);
  expect(steps.map((step) => ledger.apply(step))).toEqual(answers.map((answer) => ({ ...answer, repeated: true })));
});

test.each([
  [
    'an older cursor by another driver',
    { cursor: 0, seq: 3, driver: 'c2' },
    'it is at event 1, and this step starts at event 0',
  ],
  [
    'the cursor of a step taken, by another driver',
    { cursor: 0, seq: 1, driver: 'c2' },
    'it is at event 1, and this step starts at event 0',
  ],
  ['a cursor ahead', { cursor: 3, seq: 3, driver: 'c2' }, 'it is at event 1, and this step starts at event 3'],
  ['a seq before the cursor', { cursor: 1, seq: 0, driver: 'c2' }, 'event 0 lies before its cursor 1'],
  ['a seq that is not there', { cursor: 1, seq: 99, driver: 'c2' }, 'there is no event 99'],
  ['an input of another run', { cursor: 1, seq: 5, driver: 'c2' }, 'event 5 belongs to run other'],
  ['a decision as input', { cursor: 1, seq: 4, driver: 'c2' }, 'event 4 is a decision, not an input'],
])('%s is refused and changes nothing', (_, step, why) => {
  const { ledger, lease, first, path } = openBench();
  ledger.append('r', 'poke', null); // 3
  ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions: [{ do: 'record', type: 'noted', data: 1 }] }); // 4
  ledger.createRun({ id: 'other', name: 'other' }); // 5
  const last = ledger.lastSeq();
  expect(squadError(() => ledger.apply({ lease, ...step, decisions: [claim('x-1')] }))).toMatchObject({
    code: 'cursor-refused',
    message: `Run first refused a step: ${why}. Nothing was written.`,
    next: 'Resume first: that starts from what is on record (`squad log first`).',
  });
  expect(ledger.lastSeq()).toBe(last);
  expect(ledger.run('r')).toMatchObject({ applied: first, driver: 'c1' });
  expect(ledger.attempts({})).toEqual([]);
  expect(violations(path)).toEqual([]);
});

test('more can be decided on the same input once, also by the next checkpoint', () => {
  const { ledger, lease, first } = openBench();
  const more = { lease, cursor: first, seq: first, decisions: [] };
  ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions: [] });
  expect(ledger.apply({ ...more, driver: 'c2' }).repeated).toBe(false);
  expect(ledger.apply({ ...more, driver: 'c2' }).repeated).toBe(true);
  expect(squadError(() => ledger.apply({ ...more, driver: 'c3' })).message).toContain(`event ${first} is decided on`);
});

test('the steps of a run are listed as they were applied, with the answers to their claims', () => {
  const { ledger, lease, first, path } = openBench();
  const second = ledger.append('r', 'poke', null);
  ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions: [claim('a-1', 'a')] });
  ledger.apply({ lease, cursor: first, seq: second, driver: 'c1', decisions: [] });
  expect(stepsIn(path, 'r')).toEqual([
    { cursor: 0, seq: first, claims: [{ claimed: true, attemptId: 'a-1', number: 1 }] },
    { cursor: first, seq: second, claims: [] },
  ]);
  expect(stepsIn(path, 'other')).toEqual([]);
});

test('a step that throws half way leaves nothing behind', () => {
  const { ledger, lease, first, path } = openBench();
  const last = ledger.lastSeq();
  const decisions = [claim('a-1'), { do: 'record', type: 'attempt-settled', data: null } as const];
  expect(refusal(() => ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions }))).toBe('bad-input');
  expect(ledger.lastSeq()).toBe(last);
  expect(ledger.attempt('a-1')).toBeUndefined();
  expect(violations(path)).toEqual([]);
});

test('a fenced driver is refused, whatever its cursor', () => {
  const { ledger, lease, first } = openBench();
  ledger.acquireLease('r', 'next');
  const step = { lease, cursor: 0, seq: first, driver: 'c1', decisions: [] };
  expect(refusal(() => ledger.apply(step))).toBe('lease-fenced');
  expect(refusal(() => ledger.renewLease(lease, 0))).toBe('lease-fenced');
});

test('a lease that was given back is fenced too', () => {
  const { ledger, lease, first } = openBench();
  ledger.releaseLease(lease);
  ledger.releaseLease(lease);
  expect(refusal(() => ledger.apply({ lease, cursor: 0, seq: first, driver: 'c1', decisions: [] }))).toBe(
    'lease-fenced',
  );
  expect(ledger.segments('r')).toMatchObject([{ epoch: 1, holder: 'test', releasedAt: 1_000_000 }]);
});

test('an input of the workspace may drive any run', () => {
  const { ledger, lease } = openBench();
  const seq = ledger.append('workspace', 'request-made', { text: 'more' });
  expect(ledger.apply({ lease, cursor: 0, seq, driver: 'c1', decisions: [] }).applied).toBe(seq);
});

test('attempt numbers count per task from 1, and an id is used once', () => {
  const bench = openBench();
  const claims = decide(bench, claim('a-1', 'a'), claim('b-1', 'b'), claim('a-2', 'a'), claim('a-1', 'a')).claims;
  expect(claims).toEqual([
    { claimed: true, attemptId: 'a-1', number: 1 },
    { claimed: true, attemptId: 'b-1', number: 1 },
    { claimed: true, attemptId: 'a-2', number: 2 },
    { claimed: false, attemptId: 'a-1', reason: 'duplicate' },
  ]);
  expect(bench.ledger.events({ stream: 'r' }).filter((event) => event.type === 'claim-refused')).toHaveLength(1);
});

test('a session has one live attempt, across runs', () => {
  const bench = openBench();
  const session = { sessionKey: 'claude:1' };
  expect(decide(bench, claim('a-1', 'a', session), claim('b-1', 'b', session)).claims[1]).toMatchObject({
    reason: 'session-busy',
  });
  bench.ledger.settle(bench.lease, 'a-1', result());
  expect(decide(bench, claim('b-1', 'b', session)).claims[0]).toMatchObject({ claimed: true });
});

test.each([
  ['turns', { turns: 2 }, undefined],
  ['tokens', { tokens: 10 }, usage(10)],
  ['usd', { usd: 0.5 }, usage(1, 0.5)],
] as const)('the cap on %s refuses the claim after it is used up', (reason, limits, used) => {
  const bench = openBench();
  expect(decide(bench, claim('a-1', 'a', { limits }), claim('b-1', 'b', { limits })).claims).toMatchObject([
    { claimed: true },
    { claimed: true },
  ]);
  if (used !== undefined) bench.ledger.settle(bench.lease, 'a-1', result({ usage: used }));
  expect(decide(bench, claim('c-1', 'c', { limits })).claims).toMatchObject([{ claimed: false, reason }]);
});

test('two claims of one decision cannot both take the last place', () => {
  const bench = openBench();
  const limits = { turns: 1 };
  expect(decide(bench, claim('a-1', 'a', { limits }), claim('b-1', 'b', { limits })).claims).toMatchObject([
    { claimed: true },
    { claimed: false, reason: 'turns' },
  ]);
});

test('checks are attempts that cost no turn', () => {
  const bench = openBench();
  const attempt = { id: 'v-1', taskId: 'v', kind: 'check' as const, agent: 'engine', runtime: 'check', request: '{}' };
  const answer = decide(bench, { do: 'claim-attempt', attempt, limits: { turns: 0 } });
  expect(answer.claims).toMatchObject([{ claimed: true }]);
  bench.ledger.settle(bench.lease, 'v-1', result());
  expect(bench.ledger.totals('r')).toMatchObject({ turnsClaimed: 0, unknownUsage: 0 });
});

test('the fold of the events says the same as the tables', () => {
  const bench = openBench();
  const { ledger, lease, clock } = bench;
  decide(bench, claim('a-1', 'a'), claim('b-1', 'b'), { do: 'set-timer', id: 't', dueAt: 5, data: 1 });
  ledger.settle(lease, 'a-1', result({ usage: usage(7, 0.25) }));
  clock.time += 10;
  ledger.fireTimer(lease, 't');
  decide(bench, { do: 'set-timer', id: 't', dueAt: 9, data: 2 });
  const view = foldRun(ledger.events({ stream: 'r' }), ledger.run('r')?.applied ?? 0);
  expect(view.totals).toEqual(ledger.totals('r'));
  expect([...view.timers.keys()]).toEqual(ledger.dueTimers(100_000_000).map((timer) => timer.id));
  expect([...view.attempts.values()].map(({ id, number }) => ({ id, number }))).toEqual(
    ledger.attempts({ runId: 'r' }).map(({ id, number }) => ({ id, number })),
  );
  expect(violations(bench.path)).toEqual([]);
});
