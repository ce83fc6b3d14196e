import { describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../../src/model/ledger-event.ts';
import { forkPoints, momentAt, planFork } from '../../src/view/fork-plan.ts';
import { differenceOf, type Essence } from '../support/replay/steps.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { BASE, definition } from './report/support.ts';

const HEAD = 'd'.repeat(40);
const task = {
  ...{ id: 'a', title: 'A', role: 'builder', brief: { text: 'Do it.' }, kind: 'work', needs: [], workspace: 'own' },
  ...{ session: 'new', requires: [{ kind: 'commit' }], integrate: true },
};

function event(seq: number, type: string, data: unknown, cause: number | null = null): LedgerEvent {
  return { seq, stream: 'run', type, at: seq * 1_000, cause, epoch: 1, data: plainJson(data) };
}

function work(seq: number, cause: number, entry: Json): LedgerEvent {
  return event(seq, 'plan-entry', { entry: 'work', seq: cause, at: cause * 1_000, task: 'a', event: entry }, cause);
}

const DONE = { type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: 'done' };
const FACTS = {
  base: BASE,
  commit: HEAD,
  commits: 1,
  changedPaths: ['a'],
  uncommitted: [],
  files: [],
  commands: [],
  pr: null,
};

/** One task that is planned, tried, handed in and looked at. */
const EVENTS: readonly LedgerEvent[] = [
  event(1, 'run-created', { name: 'tidy' }),
  event(2, 'run-defined', definition()),
  event(3, 'plan-entry', { entry: 'changes', seq: 2, at: 2_000, changes: [{ do: 'add-task', task }] }, 2),
  event(4, 'limits-raised', { turns: 300 }),
  event(5, 'run-resumed', {}),
  event(6, 'next-decided', { next: 'start', why: 'a is ready' }, 5),
  work(7, 5, { type: 'attempt-started', attempt: 'a-1', agent: 'bob', account: 'x', session: 's', review: null }),
  event(8, 'timer-set', { id: 'later', dueAt: 99, data: null }, 5),
  event(9, 'attempt-spawned', { attemptId: 'tidy.run.a-1' }),
  event(10, 'run-woken', {}),
  event(11, 'attempt-settled', { attemptId: 'tidy.run.a-1', kind: 'turn' }),
  work(12, 11, DONE),
  event(13, 'timer-fired', { id: 'later' }),
  event(14, 'work-observed', { task: 'a', event: { type: 'evidence-gathered', facts: FACTS } }),
  work(15, 14, { type: 'evidence-gathered', facts: FACTS }),
];

describe('the moment of an event', () => {
  it.each<[number, number | undefined, string]>([
    [1, undefined, 'nothing was decided yet'],
    [2, 2, 'the input that was decided on'],
    [3, 2, 'the cause of a decision'],
    [4, 2, 'a fact: what was decided before'],
    [8, 5, 'a timer that a decision set'],
    [9, 5, 'a process, after the decision'],
    [10, 5, 'an input without a decision of its own'],
    [11, 11, 'a settlement'],
    [13, 11, 'an input that was decided on with a later one'],
    [14, 14, 'the newest input'],
    [16, undefined, 'no event of the run'],
  ])('of event %i is %s: %s', (seq, moment, _why) => {
    expect(momentAt(EVENTS, seq)).toBe(moment);
  });
});

describe('a fork', () => {
  it.each([
    { seq: 2, facts: [], ends: [], inputs: [], timers: [], needed: [BASE] },
    { seq: 5, facts: [4], ends: ['a'], inputs: [], timers: ['later'], needed: [BASE] },
    // It was handed in: what was found in its folder comes next.
    { seq: 11, facts: [4], ends: [], inputs: [HEAD], timers: ['later'], needed: [BASE] },
    { seq: 14, facts: [4], ends: [], inputs: [], timers: [], needed: [BASE, HEAD] },
  ])('at event $seq takes over what was there', ({ seq, ...expected }) => {
    const plan = planFork(definition(), EVENTS, seq);
    expect({
      facts: plan.facts.map((fact) => fact.seq),
      ends: plan.ends.map((end) => end.task),
      inputs: plan.inputs.map((input) => input.event.type === 'evidence-gathered' && input.event.facts.commit),
      timers: plan.timers.map(({ id }) => id),
      needed: plan.needed,
    }).toEqual(expected);
  });

  it('has the author do again what the engine never looked at', () => {
    const cut = EVENTS.filter(({ seq }) => seq < 14);
    const [input] = planFork(definition(), cut, 11).inputs;
    expect(input).toMatchObject({
      task: 'a',
      event: { facts: { commit: null, problem: expect.any(String) as string } },
    });
  });

  it('can begin where a plan was made', () => {
    expect(forkPoints(definition(), EVENTS)).toEqual([
      { seq: 2, at: 3_000, what: 'the plan began', tasks: { all: 1, done: 0 } },
    ]);
  });
});

describe('the difference of two decisions', () => {
  const essence = (...lines: string[]): Essence[] => lines.map((line) => ({ kind: 'record', what: line, line }));
  const about = { seq: 7, step: 'next' } as const;
  it.each([
    [essence(), essence(), undefined],
    [essence('a', 'b'), essence('a', 'b'), undefined],
    [essence('a', 'b'), essence('a', 'c'), { ...about, was: ['b'], now: ['c'] }],
    [essence('a', 'a'), essence('a'), { ...about, was: ['a'], now: [] }],
    [essence('a', 'b'), essence('b', 'a'), { ...about, was: ['a', 'b'], now: ['b', 'a'] }],
  ])('%#', (was, now, expected) => {
    expect(differenceOf(about, was, now)).toEqual(expected);
  });
});
