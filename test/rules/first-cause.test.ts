import { describe, expect, it } from 'vitest';
import { createBoard } from '../../src/rules/board.ts';
import { concludeRun } from '../../src/rules/conclude.ts';
import { firstCauseOf, stallSkip } from '../../src/rules/first-cause.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, TaskState } from '../../src/model/plan/board.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { endedAs, newTask, stateOf } from './support.ts';

const LIST = {
  list: { stages: [{ id: 'JUDGE', judges: { rounds: 3 } }] },
  folder: 'docs',
  reviewRounds: 3,
};
const VERIFY = 'verify: `npm run check` exited with 1: npm error Missing script: "check"';

interface About {
  readonly problems?: Board['gate']['problems'];
  readonly rounds?: readonly Json[];
  /** When a task was skipped because its agent stalled. */
  readonly stalledAt?: number;
  readonly stalledWhy?: string;
}

function boardOf({ problems, rounds = [], stalledAt, stalledWhy = 'no tool was used' }: About): Board {
  const board = createBoard(factsOf([member('bob', 'builder')], { options: LIST }));
  const phase = { at: 'ended', as: 'skipped', cause: 'stalled', why: stalledWhy } as const;
  const skipped = {
    task: newTask('plan'),
    work: { ...newWork(), phase },
    order: 0,
    depth: 0,
    at: { ended: stalledAt },
  };
  return {
    ...board,
    ...(stalledAt === undefined ? {} : { tasks: board.tasks.with(skipped as unknown as TaskState) }),
    gate: { ...board.gate, ...(problems === undefined ? {} : { problems }) },
    records: new Map([['stage-rounds', new Map(rounds.map((round, index) => [`${index}`, round]))]]),
    finished: { outcome: 'failed', why: 'fix-1: nothing was changed' },
  };
}

function round(number: number, approved: boolean): Json {
  const by = [{ role: 'reviewer', agent: 'rex', approved }];
  const findings = [{ file: null, line: null, problem: 'it leaks', suggestion: null, by: 'reviewer' }];
  return { stage: 'JUDGE', pass: number, round: number, approved, by, summary: 'no', findings, converging: true };
}

const SKIPPED = 'plan was skipped because its agent stalled: no tool was used';
const REJECTED = 'JUDGE rejected the work: reviewer (rex): rejected. no; - it leaks';

const ROWS: readonly [name: string, about: About, first: string | undefined][] = [
  ['its own plan', {}, undefined],
  ['the repair of a failed check', { problems: { at: 5, texts: [VERIFY] } }, VERIFY],
  ['the repair of two', { problems: { at: 5, texts: [VERIFY, 'criterion: other'] } }, `${VERIFY}; criterion: other`],
  ['the repair of five', { problems: { at: 5, texts: ['p1', 'p2', 'p3', 'p4', 'p5'] } }, 'p1; p2; p3; 2 more'],
  ['work after a rejection', { rounds: [round(1, false)] }, REJECTED],
  ['work after a rejection that was made good', { rounds: [round(1, false), round(2, true)] }, undefined],
  ['work after the last rejection, which the headline has', { rounds: [round(3, false)] }, undefined],
  ['work after a task that was skipped because its agent stalled', { stalledAt: 3 }, SKIPPED],
  [
    'work after a task that was skipped after its test named two failures',
    { stalledAt: 3, stalledWhy: 'tested\n- the form is missing\n- so is its name' },
    'plan was skipped because its agent stalled: tested; - the form is missing; - so is its name',
  ],
  [
    'the repair of a check with output',
    { problems: { at: 5, texts: [`${VERIFY}\nnpm error To see a list of scripts, run:`] } },
    VERIFY,
  ],
  [
    'the repair, with a task skipped before',
    { stalledAt: 3, problems: { at: 5, texts: [VERIFY] } },
    `${SKIPPED}\nafter that: ${VERIFY}`,
  ],
  [
    'the repair, with a task skipped later',
    { stalledAt: 7, problems: { at: 5, texts: [VERIFY] } },
    `${VERIFY}\nafter that: ${SKIPPED}`,
  ],
];

describe('the first cause of a run that failed at', () => {
  it.for(ROWS)('%s', ([, about, first]) => {
    expect(firstCauseOf(boardOf(about), 'fix-1: nothing was changed')).toBe(first);
  });

  it('comes first in the headline, and is said once', () => {
    const board = boardOf({ problems: { at: 5, texts: [VERIFY] } });
    expect(concludeRun({ board, problem: undefined, strict: false })).toMatchObject({
      headline: `FAILED, ${VERIFY}; after that: fix-1: nothing was changed`,
      exitCode: 1,
    });
    const same = { ...board, finished: { outcome: 'failed', why: `${VERIFY}\ncriterion: other` } as const };
    expect(concludeRun({ board: same, problem: undefined, strict: false }).headline).toBe(
      `FAILED, ${VERIFY}; criterion: other`,
    );
  });
});

it('repeats only the beginning of the first cause, with what it leads to', () => {
  const of = (text: string): string | undefined =>
    firstCauseOf(boardOf({ problems: { at: 5, texts: [text] } }), 'later');
  expect(of('\n one \ntwo')).toBe('one');
  expect(of('one:\ntwo\nthree')).toBe('one: two; three');
  expect(of('x'.repeat(300))).toBe('x'.repeat(300));
  const two = { at: 5, texts: ['x'.repeat(200), 'y'.repeat(200)] };
  expect(firstCauseOf(boardOf({ problems: two }), 'later')).toBe(`${'x'.repeat(149)}…; ${'y'.repeat(149)}…`);
  expect(of('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
});

it('names all tasks that were skipped, in their order, before what came later', () => {
  const board = boardOf({ stalledAt: 7, stalledWhy: 'stalled: no tool', problems: { at: 5, texts: [VERIFY] } });
  const phase = { at: 'ended', as: 'skipped', cause: 'stalled', why: 'tested\n- the form is missing' } as const;
  const earlier = { task: newTask('spec'), work: { ...newWork(), phase }, order: 1, depth: 0, at: { ended: 4 } };
  const both = { ...board, tasks: board.tasks.with(earlier as unknown as TaskState) };
  expect(firstCauseOf(both, 'later')?.split('\nafter that: ')).toEqual([
    'spec was skipped because its agent stalled: tested; - the form is missing; plan was skipped because its agent stalled: no tool',
    VERIFY,
  ]);
});

it('a task that is not over was not skipped', () => {
  expect(stallSkip(stateOf('a'))).toBeUndefined();
  expect(stallSkip(stateOf('a', {}, endedAs('skipped')))).toBeUndefined();
  expect(stallSkip(stateOf('a', {}, endedAs('failed')))).toBeUndefined();
  expect(stallSkip(stateOf('a', {}, endedAs('skipped', { cause: 'attempts', why: 'no tool' })))).toBe(
    'a was skipped because its agent stalled: no tool',
  );
});
