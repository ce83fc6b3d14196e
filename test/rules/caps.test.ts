import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier } from '../../src/rules/frontier.ts';
import { decideNext, type NextFacts } from '../../src/rules/next.ts';
import { ROOM_FOR_ALL, roomOf, type Room } from '../../src/model/spending.ts';
import type { Caps, Spending, Use } from '../../src/model/spending.ts';
import type { Board, Member } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED } from './support.ts';
import { finding } from '../support/findings.ts';

const AT = { seq: 1, at: 1_000 };
const SQUAD = [member('ada', 'builder'), member('bob', 'builder'), member('rex', 'reviewer')];

function boardOf(tasks: readonly NewTask[], roster: Member[] = SQUAD): Board {
  const changes = tasks.map((task) => ({ do: 'add-task', task }) as const);
  return applyChanges(createBoard(factsOf(roster)), changes, AT).board;
}

function after(board: Board, task: string, ...events: WorkEvent[]): Board {
  return events.reduce((now, event) => applyWork(now, task, event, AT).board, board);
}

function begun(agent: string, attempt: string, review: string | null = null): WorkEvent {
  const session = `${attempt}/${agent}`;
  return { type: 'attempt-started', attempt, agent, account: `account-${agent}`, session, review };
}

function ended(attempt: string): WorkEvent {
  return { type: 'attempt-settled', attempt, outcome: 'completed', text: 'done' };
}

function crashed(attempt: string): WorkEvent {
  const failure = { kind: 'output-truncated', message: 'm', mayHaveActed: true } as const;
  return { type: 'attempt-settled', attempt, outcome: 'failed', text: '', failure };
}

/** Agents and tasks by name, with the turns that each has left. */
function roomFor(left: Readonly<Record<string, number>>): Room {
  const of = (name: string, starting: number): string | undefined =>
    starting < (left[name] ?? Infinity) ? undefined : 'turns: all used';
  return { agent: of, task: of };
}

function whoStarts(board: Board, room: Room, free = 9): string[] {
  return decideFrontier(board, free, room).starts.map((start) =>
    start.start === 'turn' ? `${start.task} by ${start.agent}` : start.task,
  );
}

describe('an agent’s limit', () => {
  const two = [newTask('a'), newTask('b'), newTask('c')];
  it.each<[string, Readonly<Record<string, number>>, string[], string[]]>([
    ['that is far off changes nothing', { ada: 2 }, ['a by ada', 'b by bob', 'c by ada'], []],
    ['moves its work to a colleague', { ada: 0 }, ['a by bob', 'b by bob', 'c by bob'], []],
    ['counts the turns that start together', { ada: 1, bob: 1 }, ['a by ada', 'b by bob'], ['c']],
    ['fails what nobody else can do', { ada: 0, bob: 0 }, [], ['a', 'b', 'c']],
  ])('%s', (_what, left, starts, over) => {
    const board = boardOf(two);
    expect(whoStarts(board, roomFor(left))).toEqual(starts);
    expect(decideFrontier(board, 9, roomFor(left)).over.map(({ task }) => task)).toEqual(over);
  });

  it('gives work under way to a colleague, in a new session', () => {
    const board = after(boardOf([newTask('a')]), 'a', begun('bob', 'a-1'), crashed('a-1'));
    expect(whoStarts(board, ROOM_FOR_ALL)).toEqual(['a by bob']);
    expect(decideFrontier(board, 9, roomFor({ bob: 0 })).starts).toMatchObject([
      { agent: 'ada', session: { key: 'a/author/ada/2', resume: false }, prompt: { why: 'continue' } },
    ]);
  });

  it('never makes who judged the work its author, nor its author a judge', () => {
    const squad = [member('ada', 'builder'), member('bob', 'builder'), member('cyd', 'builder')];
    const task = newTask('a', { review: { by: ['builder'], quorum: 'all', rounds: 3, criteria: ['works'] } });
    const judged = after(
      boardOf([task], squad),
      'a',
      begun('ada', 'a-1'),
      ended('a-1'),
      { type: 'evidence-gathered', facts: FACTS },
      begun('bob', 'a-2', 'builder'),
    );
    const rejected = after(judged, 'a', {
      type: 'attempt-settled',
      attempt: 'a-2',
      outcome: 'completed',
      text: '',
      output: { approved: false, summary: 's', findings: [finding('no')] },
    });
    expect(whoStarts(rejected, roomFor({ ada: 0 }))).toEqual(['a by cyd']);
    expect(decideFrontier(rejected, 9, roomFor({ ada: 0, cyd: 0 })).over).toHaveLength(1);
    const unjudged = after(boardOf([task], squad), 'a', begun('ada', 'a-1'), ended('a-1'), {
      type: 'evidence-gathered',
      facts: FACTS,
    });
    expect(decideFrontier(unjudged, 9, roomFor({ bob: 0, cyd: 0 })).over).toMatchObject([{ task: 'a' }]);
  });

  it('that a named agent reached fails the task: nobody else was asked', () => {
    expect(decideFrontier(boardOf([newTask('a', { agent: 'ada' })]), 9, roomFor({ ada: 0 })).over).toEqual([
      { task: 'a', why: 'ada has reached its limit (turns: all used)' },
    ]);
  });

  it('keeps it from work on every account', () => {
    const board = boardOf([newTask('a')], [member('ada', 'builder')]);
    const facts = { ...board.facts, fallbacks: { 'account-ada': 'other' } };
    const parked = { ...board, facts, accounts: new Map([['account-ada', { until: 9_000, probe: null }]]) };
    expect(whoStarts(parked, ROOM_FOR_ALL)).toEqual(['a by ada']);
    expect(decideFrontier(parked, 9, roomFor({ ada: 0 })).over).toMatchObject([{ task: 'a' }]);
  });
});

describe('a task’s limit', () => {
  const facts: NextFacts = {
    parallel: 9,
    limits: { reached: false },
    now: 1_000,
    draining: false,
    patienceMs: null,
    pendingMail: 0,
  };

  it('ends that task first, and then the rest goes on', () => {
    const board = boardOf([newTask('a'), newTask('b')]);
    const room = roomFor({ a: 0 });
    expect(decideNext(board, { ...facts, room })).toMatchObject({
      next: 'start',
      starts: [],
      over: [{ task: 'a', why: 'the task has reached its limit (turns: all used)' }],
    });
    const failed = after(board, 'a', { type: 'settle-asked', as: 'failed', why: 'over', cause: 'limit' });
    expect(failed.tasks.get('a')?.work.phase).toEqual({ at: 'ended', as: 'failed', cause: 'limit', why: 'over' });
    expect(decideNext(failed, { ...facts, room })).toMatchObject({ next: 'start', starts: [{ task: 'b' }], over: [] });
  });

  it('waits for what still lives of the task', () => {
    const both = newTask('a', { review: { by: ['reviewer', 'tester'], quorum: 'any', rounds: 2, criteria: ['c'] } });
    const squad = [...SQUAD, member('tom', 'tester')];
    const open = after(boardOf([both], squad), 'a', begun('ada', 'a-1'), ended('a-1'), {
      type: 'evidence-gathered',
      facts: FACTS,
    });
    const last = decideFrontier(open, 9, roomFor({ a: 1 }));
    expect([last.starts.length, last.waiting.length, last.over.length]).toEqual([1, 1, 0]);
    const live = after(open, 'a', begun('rex', 'a-2', 'reviewer'));
    const meanwhile = decideFrontier(live, 9, roomFor({ a: 0 }));
    expect([meanwhile.starts.length, meanwhile.waiting.length, meanwhile.over.length]).toEqual([0, 1, 0]);
  });

  it('is nobody’s end while the run itself may start nothing', () => {
    const limits = { reached: true, limit: 'usd', why: 'usd: 1 of 1 used' } as const;
    const board = boardOf([newTask('a', REVIEWED)]);
    expect(decideNext(board, { ...facts, limits, room: roomFor({ a: 0 }) })).toMatchObject({ next: 'stop' });
  });
});

describe('roomOf', () => {
  const use = (more: Partial<Use>): Use => ({
    turns: 0,
    tokens: 0,
    usd: 0,
    minutes: 0,
    unknown: { tokens: 0, usd: 0 },
    blind: { tokens: [], usd: [] },
    ...more,
  });
  const spending: Spending = {
    run: use({}),
    agent: (name) => use(name === 'ada' ? { turns: 2, usd: 1.239, minutes: 7 } : {}),
    task: () => use({ tokens: 500 }),
  };
  it.each<[Caps, number, string | undefined]>([
    [{}, 0, undefined],
    [{ turns: 3 }, 0, undefined],
    [{ turns: 3 }, 1, '3 of 3 turns used'],
    [{ usd: 1.24 }, 9, undefined],
    [{ usd: 1.2 }, 0, 'USD 1.24 of 1.20 used'],
    [{ minutes: 7, usd: 1 }, 0, '7m00s of 7m00s used'],
  ])('%j, %i starting → %s', (caps, starting, text) => {
    const room = roomOf(spending, { agents: new Map([['ada', caps]]), task: { tokens: 501 } });
    expect(room.agent('ada', starting)).toBe(text);
    expect(room.agent('bob', 99)).toBeUndefined();
    expect(room.task('a', 99)).toBeUndefined();
    expect(roomOf(spending, { agents: new Map(), task: { tokens: 500 } }).task('a', 0)).toBe('500 of 500 tokens used');
  });
});
