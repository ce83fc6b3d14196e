import { describe, expect, it, test } from 'vitest';
import { createBoard } from '../../src/rules/board.ts';
import type { Board, Question } from '../../src/model/plan/board.ts';
import { RUN_EVENTS } from '../../src/model/run.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import { boardEvents } from '../../src/view/project-board.ts';
import { openRunEvents } from '../../src/view/run-events.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { definition, RecordedRun } from './report/support.ts';

const EMPTY = createBoard(factsOf([member('bob', 'builder')]));
const base = { at: 1, runId: 'r' };

function asked(answer: string | null, more: Partial<Question> = {}): Partial<Board> {
  const question = {
    id: 'q',
    text: 'Which?',
    options: ['a', 'b'],
    blocks: ['one'],
    by: 'engine',
    answer,
    ...more,
  } as const;
  return { questions: new Map([['q', question]]) };
}

function paused(verb: 'pause' | 'drain', at: number): Partial<Board> {
  return { pauses: new Map([['run', { verb, by: 'ada', at }]]) };
}

const limited = (until: number): Partial<Board> => ({ accounts: new Map([['claude', { until, probe: null }]]) });
const lockedOut: Partial<Board> = {
  lockedOut: new Map([['claude', { account: 'claude', kind: 'auth', why: 'expired', agent: 'ada', givenUp: false }]]),
};

describe('what changes between two boards', () => {
  it.each<[string, Partial<Board>, Partial<Board>, object[]]>([
    ['a question', {}, asked(null), [{ type: 'question-asked', question: 'q', options: ['a', 'b'], tasks: ['one'] }]],
    ['a question about the whole run', {}, asked(null, { blocks: 'run' }), [{ type: 'question-asked', tasks: [] }]],
    ['its answer', asked(null), asked('a'), [{ type: 'question-answered', question: 'q', answer: 'a' }]],
    ['the same question after its answer', asked('a'), asked(null), [{ type: 'question-asked', question: 'q' }]],
    ['a question that blocks one more task', asked(null), asked(null, { blocks: ['one', 'two'] }), []],
    ['a pause', {}, paused('pause', 1), [{ type: 'pause-changed', scope: 'run', verb: 'pause', by: 'ada' }]],
    ['a drain in place of a pause', paused('pause', 1), paused('drain', 2), [{ type: 'pause-changed', verb: 'drain' }]],
    ['the end of a pause', paused('pause', 1), {}, [{ type: 'pause-changed', scope: 'run', verb: null }]],
    ['a usage limit', {}, limited(9), [{ type: 'account-changed', account: 'claude', state: 'limited', until: 9 }]],
    ['another reset of the limit', limited(9), limited(12), [{ type: 'account-changed', state: 'limited', until: 12 }]],
    ['one turn that tests the limit', limited(9), { accounts: new Map([['claude', { until: 9, probe: 'a-1' }]]) }, []],
    ['the end of the limit', limited(9), {}, [{ type: 'account-changed', account: 'claude', state: 'works' }]],
    ['a login that is missing', limited(9), lockedOut, [{ type: 'account-changed', state: 'locked-out' }]],
  ])('%s', (_what, before, after, events) => {
    expect(boardEvents(base, { ...EMPTY, ...before }, { ...EMPTY, ...after })).toMatchObject(events);
  });
});

function ofType(run: RecordedRun, type: RunEvent['type']): RunEvent[] {
  return openRunEvents(run.ledger, run.id)
    .look()
    .filter((event) => event.type === type);
}

test('a view has the title, the agents with their accounts, and the limits', () => {
  const about = definition();
  const run = new RecordedRun(about);
  const [{ name, account } = { name: '', account: '' }] = about.agents;
  expect(ofType(run, 'run-defined')).toMatchObject([
    {
      title: about.objective.title,
      limits: about.limits,
      agents: expect.arrayContaining([expect.objectContaining({ name, account })]),
    },
  ]);
});

test('a view has the limits as they are after each raise', () => {
  const run = new RecordedRun(definition());
  for (const raised of [{ minutes: 90, usd: 30 }, { minutes: 120 }]) {
    run.ledger.note(run.lease, RUN_EVENTS.limitsRaised, raised);
  }
  expect(ofType(run, 'limits-changed')).toMatchObject([
    { limits: { minutes: 90, usd: 30 } },
    { limits: { minutes: 120, usd: 30 } },
  ]);
});
