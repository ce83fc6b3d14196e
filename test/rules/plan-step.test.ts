import { describe, expect, it } from 'vitest';
import { advancePlan, applyInputs, applyWork, changePlan, foldEntry, withProblems } from '../../src/rules/plan-step.ts';
import type { Playbook } from '../../src/model/plan.ts';
import type { Board, LimitedAccount } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { PlaybookEvent } from '../../src/model/plan/event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, liveRequest, newTask, stateOf } from './support.ts';

const AT = { seq: 3, at: 1_000 };
const QUIET = { name: 'quiet', advance: () => [] };
type Policy = Pick<Playbook<never>, 'name' | 'advance' | 'answers'>;
const SETTLED: Extract<WorkEvent, { type: 'attempt-settled' }> = {
  ...{ type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: '', output: { n: 1 } },
};
const STARTED: Extract<WorkEvent, { type: 'attempt-started' }> = {
  ...{ type: 'attempt-started', attempt: 'a-1', agent: 'bob', account: 'x', session: 's', review: null },
};
const add = (id: string): PlanChange => ({ do: 'add-task', task: newTask(id) });
const fails = (id: string): PlanChange => ({ do: 'settle-task', id, as: 'failed', why: 'no' });
const timer = (id: string): PlanChange => ({ do: 'set-timer', id, at: 5_000 });

describe('an input of the plan', () => {
  /** It plans one task for each that failed, and sets a timer for it. */
  const repairs: Policy = {
    name: 'repairs',
    advance: (_, event) => (event.type === 'task-failed' ? [add(`${event.task}-again`), timer(event.task)] : []),
  };

  it('is recorded with what the playbook answers, and both have effects', () => {
    const step = changePlan(boardWith([]), repairs, [add('a'), timer('first'), fails('a')], AT);
    expect(step.entries).toEqual([
      { entry: 'changes', ...AT, changes: [add('a'), timer('first'), fails('a')] },
      { entry: 'changes', ...AT, changes: [add('a-again'), timer('a')] },
    ]);
    expect(step.effects).toMatchObject([
      { effect: 'set-timer', id: 'first' },
      { effect: 'set-timer', id: 'a' },
    ]);
    expect([...step.board.tasks.values()].map(({ task }) => task.id)).toEqual(['a', 'a-again']);
    expect(step.entries.reduce(foldEntry, boardWith([])).tasks.get('a-again')).toEqual(step.board.tasks.get('a-again'));
  });

  it('comes after the one before it', () => {
    const board = boardWith([stateOf('a'), stateOf('b')]);
    const stop = (task: string): WorkEvent => ({
      ...{ type: 'settle-asked', as: 'failed', why: `${task} is bad` },
    });
    const step = applyInputs(board, repairs, [
      { ...AT, task: 'a', work: stop('a') },
      { seq: 4, at: 2_000, task: 'gone', work: stop('gone') },
      { seq: 5, at: 3_000, task: 'b', work: stop('b') },
    ]);
    expect(step.entries.map(({ entry, seq }) => [entry, seq])).toEqual([
      ['work', 3],
      ['changes', 3],
      ['work', 5],
      ['changes', 5],
    ]);
    expect(step.effects).toHaveLength(2);
    expect(applyInputs(board, repairs, [])).toEqual({ board, entries: [], effects: [] });
  });

  it('of a task that nobody planned is a bug of the caller', () => {
    expect(() => applyWork(boardWith([]), 'zed', STARTED, AT)).toThrow('no task zed on the board');
  });
});

describe('a playbook that goes in circles', () => {
  const circling = (advance: Policy['advance'], news: readonly PlaybookEvent[] = []) =>
    advancePlan(boardWith([stateOf('a')]), { name: 'loop', advance }, news);
  const END = { outcome: 'failed', why: 'playbook loop goes in circles' };
  const event = (type: 'refused' | 'other'): PlaybookEvent =>
    (type === 'refused'
      ? { type, ...AT, change: add('a'), reason: 'no' }
      : { type: 'timer', ...AT, id: 't' }) as unknown as PlaybookEvent;
  const times = (count: number, type: 'refused' | 'other') => Array.from({ length: count }, () => event(type));

  it.each<[string, () => PlaybookEvent[], boolean]>([
    ['100 refusals', () => times(100, 'refused'), false],
    ['101 refusals', () => times(101, 'refused'), true],
    ['150 refusals, and nothing is heard after the first of them that is too many', () => times(150, 'refused'), true],
    ['4,000 events', () => times(4_000, 'other'), false],
    ['4,001 events', () => times(4_001, 'other'), true],
  ])('%s', (_, makeNews, ends) => {
    const news = makeNews();
    const seen: string[] = [];
    const step = circling((_view, { type }) => {
      seen.push(type);
      return [];
    }, news);
    expect(step.board.finished).toEqual(ends ? END : null);
    expect(seen).toHaveLength(Math.min(news.length, news[0]?.type === 'refused' ? 100 : 4_000));
    expect(step.changes).toEqual(ends ? [[{ do: 'finish', ...END }]] : []);
  });

  it('hears nothing of that end', () => {
    let heard = 0;
    const step = circling(
      () => {
        heard += 1;
        return [add('a')];
      },
      times(1, 'other'),
    );
    // Each of its changes is refused, and it is told so.
    expect([heard, step.board.finished]).toEqual([101, END]);
  });
});

describe('what a playbook has against an answer', () => {
  const board = boardWith([]);
  const playbook: Policy = {
    ...QUIET,
    answers: { plan: { schema: {}, read: (_, output) => ({ problems: [`plan: ${JSON.stringify(output)}`] }) } },
  };
  const asked: Partial<NewTask> = { output: { schema: 'plan', repairs: 1 } };
  const live = { author: liveRequest('a-1') };
  it.each<[string, Parameters<typeof stateOf>[1], Parameters<typeof stateOf>[2], WorkEvent, string[] | undefined]>([
    ['is told with the event', asked, live, SETTLED, ['plan: {"n":1}']],
    ['not of another attempt', asked, { author: liveRequest('a-2') }, SETTLED, undefined],
    ['not where none is live', asked, {}, SETTLED, undefined],
    ['not of the engine’s own tasks', { ...asked, owner: 'engine' }, live, SETTLED, undefined],
    ['not where there is none', asked, live, { ...SETTLED, output: undefined }, undefined],
    ['not of another event', asked, live, { ...STARTED, output: { n: 1 } } as WorkEvent, undefined],
  ])('%s', (_, task, work, event, problems) => {
    const told = withProblems(playbook, board, stateOf('a', task, work), event);
    expect(told).toEqual(problems === undefined ? event : { ...event, problems });
    expect(
      withProblems(
        { ...QUIET, answers: { plan: { schema: {}, read: () => ({}) } } },
        board,
        stateOf('a', task, work),
        event,
      ),
    ).toBe(event);
    expect(withProblems(QUIET, board, stateOf('a', task, work), event)).toBe(event);
  });
});

describe('an answer in no form of the playbook', () => {
  const report = { done: 'built', checked: [], assumed: [], notDone: [], replies: [] };
  it.each<[string, object | undefined, object]>([
    ['is kept as the report of its author', report, { report }],
    ['is left out if it is no report', { n: 1 }, {}],
  ])('%s', (_, output, kept) => {
    const { output: __, ...rest } = SETTLED;
    const state = stateOf('a', {}, { author: liveRequest('a-1') });
    const told = withProblems(QUIET, boardWith([state]), state, { ...rest, output } as WorkEvent);
    expect(told).toEqual({ ...rest, ...kept });
  });
});

describe('an account at its limit', () => {
  const limited = (until: number, probe: string | null = null): Partial<Board> => ({
    accounts: new Map<string, LimitedAccount>([
      ['x', { until, probe }],
      ['y', { until, probe: null }],
    ]),
  });
  const accounts = (more: Partial<Board>, event: WorkEvent) =>
    applyWork(
      { ...boardWith([stateOf('a', {}, event === STARTED ? {} : { author: liveRequest('a-1') })]), ...more },
      'a',
      event,
      AT,
    ).board.accounts;

  it.each<[string, Partial<Board>, string | null | undefined]>([
    ['from the reset on, the first attempt is the probe', limited(1_000), 'a-1'],
    ['before it, none is', limited(1_001), null],
    ['a second one is not', limited(1_000, 'z-9'), 'z-9'],
    ['an account without a limit has none', { accounts: new Map() }, undefined],
  ])('%s', (_, more, probe) => {
    const after = accounts(more, STARTED);
    expect(after.get('x')?.probe).toBe(probe);
    expect(after.get('y')?.probe).toBe(probe === undefined ? undefined : null);
  });

  it('opens again once its probe has ended, and only then', () => {
    expect([...accounts(limited(1_000, 'a-1'), SETTLED).keys()]).toEqual(['y']);
    expect([...accounts(limited(1_000, 'z-9'), SETTLED).keys()]).toEqual(['x', 'y']);
    const raised: WorkEvent = { type: 'wall-raised', attempt: 'a-1', why: 'no tool' };
    expect([...accounts(limited(1_000, 'a-1'), raised).keys()]).toEqual(['x', 'y']);
  });
});

describe('a run branch that cannot be delivered on', () => {
  const advancing = { phase: { at: 'advancing', commit: 'c', candidate: 'd', since: 1 } } as const;
  const after = (event: WorkEvent, work: Parameters<typeof stateOf>[2] = advancing) =>
    applyWork(boardWith([stateOf('a', {}, work)]), 'a', event, AT).board;

  it('is asked about', () => {
    expect([...after({ type: 'branch-foreign', head: 'x' }).questions.keys()]).toEqual(['engine/run-branch/3']);
    expect(after({ type: 'begun' }, {}).questions.size).toBe(0);
  });

  it('has a new head once work was delivered on it, and not before', () => {
    expect(after({ type: 'branch-advanced', commit: 'new' }).branch.head).toBe('new');
    expect(after({ type: 'branch-advanced', commit: 'new' }, endedAs('cancelled')).branch.head).toBe('base');
  });
});
