import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier, type Frontier } from '../../src/rules/frontier.ts';
import { ROOM_FOR_ALL, type Room } from '../../src/model/spending.ts';
import type { Board, Member, Question } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { factsOf, failed, member } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED } from './support.ts';
import { finding } from '../support/findings.ts';

const AT = { seq: 1, at: 1_000 };
const BOTH: Partial<NewTask> = {
  review: { by: ['reviewer', 'tester'], quorum: 'any', rounds: 2, criteria: ['works'] },
};
const ROSTER = [
  member('bob', 'builder'),
  member('cyd', 'builder'),
  member('rex', 'reviewer'),
  member('tom', 'tester'),
  member('rio', 'reviewer'),
];

function make(tasks: readonly NewTask[], more: readonly PlanChange[] = [], roster: readonly Member[] = ROSTER): Board {
  const changes = [...tasks.map((task) => ({ do: 'add-task', task }) as const), ...more];
  return applyChanges(createBoard(factsOf(roster)), changes, AT).board;
}

function after(board: Board, task: string, ...events: readonly WorkEvent[]): Board {
  return events.reduce((now, event) => applyWork(now, task, event, AT).board, board);
}

function begun(attempt: string, agent = 'bob', review: string | null = null): WorkEvent {
  return { type: 'attempt-started', attempt, agent, account: `account-${agent}`, session: `s-${attempt}`, review };
}

const gone = (attempt: string, kind: Parameters<typeof failed>[0], more: object = {}): WorkEvent => ({
  ...{ type: 'attempt-settled', attempt, outcome: 'failed', text: '' },
  ...failed(kind, more),
});
const done = (attempt: string): WorkEvent => ({ type: 'attempt-settled', attempt, outcome: 'completed', text: 'ok' });
const seen: WorkEvent = { type: 'evidence-gathered', facts: FACTS };
/** Built by bob as `<id>-1`, and judged now. */
const inReview = (task: NewTask, more: readonly NewTask[] = []): Board =>
  after(make([task, ...more]), task.id, begun(`${task.id}-1`), done(`${task.id}-1`), seen);

/** Only these have a limit, and have reached it. */
function fullFor(...names: readonly string[]): Room {
  const of = (name: string): string | undefined => (names.includes(name) ? 'turns: 1 of 1 used' : undefined);
  return { agent: of, task: of };
}

const brief = ({ starts }: Frontier): string[] =>
  starts.map((start) => (start.start === 'turn' ? `${start.attempt} by ${start.agent}` : start.start));

describe('what starts', () => {
  it('is said completely: for new work', () => {
    expect(decideFrontier(make([newTask('a')]), 1)).toEqual({
      starts: [
        {
          start: 'turn',
          task: 'a',
          attempt: 'a-1',
          number: 1,
          review: null,
          commit: null,
          since: null,
          agent: 'bob',
          account: 'account-bob',
          session: { key: 'a/author/bob/1', resume: false },
          prompt: { why: 'start' },
          base: { base: 'run-head' },
        },
      ],
      waiting: [],
      unstaffed: [],
      over: [],
    });
  });

  it('is said completely: for a review, of everything after the base and at the commit', () => {
    expect(decideFrontier(inReview(newTask('a', REVIEWED)), 1).starts).toEqual([
      {
        start: 'turn',
        task: 'a',
        attempt: 'a-2',
        number: 2,
        review: 'reviewer',
        commit: 'c1',
        since: 'base',
        agent: 'rex',
        account: 'account-rex',
        session: { key: 'a/reviewer/rex/2', resume: false },
        prompt: { why: 'start' },
        base: { base: 'commit', commit: 'c1' },
      },
    ]);
  });

  it('names no commit to what is not a review, also after one', () => {
    const output = { approved: false, summary: 's', findings: [finding('no')] };
    const board = after(inReview(newTask('a', REVIEWED)), 'a', begun('a-2', 'rex', 'reviewer'), {
      ...done('a-2'),
      output,
    } as WorkEvent);
    expect(decideFrontier(board, 1).starts).toMatchObject([
      { attempt: 'a-3', agent: 'bob', review: null, commit: null, since: null, prompt: { why: 'feedback' } },
    ]);
  });

  it('is numbered through the reviewers of one task', () => {
    expect(brief(decideFrontier(inReview(newTask('a', BOTH)), 9))).toEqual(['a-2 by rex', 'a-3 by tom']);
  });

  it('is nothing once the plan has ended', () => {
    const finished = make([newTask('a')], [{ do: 'finish', outcome: 'failed', why: 'all' }]);
    const open: Board = { ...make([newTask('a')]), finished: finished.finished };
    expect(decideFrontier(open, 9)).toEqual({ starts: [], waiting: [], unstaffed: [], over: [] });
  });

  it('has the engine’s own tasks beside as many turns as are free', () => {
    const own: Partial<NewTask> = { integrate: false, requires: [{ kind: 'command', run: 'true' }] };
    const board = make([
      newTask('v', { ...own, kind: 'check' }),
      newTask('a', { ...own, kind: 'check' }),
      newTask('b'),
      newTask('c'),
    ]);
    expect(decideFrontier(board, 1)).toMatchObject({
      starts: [
        { start: 'check', task: 'v', base: { base: 'run-head' } },
        { start: 'check', task: 'a', base: { base: 'run-head' } },
        { start: 'turn', task: 'b' },
      ],
      waiting: [{ task: 'c', why: 'the limit of parallel turns is reached', until: null }],
    });
    expect(decideFrontier(board, 0).starts).toHaveLength(2);
  });

  it('integrates the commit of its base, if there is one', () => {
    const board = make(
      [newTask('a'), newTask('b', { needs: ['a'], kind: 'integrate', base: 'a' })],
      [{ do: 'settle-task', id: 'a', as: 'done', why: 'by hand' }],
    );
    expect(decideFrontier(board, 9).starts).toEqual([{ start: 'integrate', task: 'b', commit: null }]);
    const a = board.tasks.get('a')!;
    const built = { ...board, tasks: board.tasks.with({ ...a, work: { ...a.work, commit: 'c1' } }) };
    expect(decideFrontier(built, 9).starts).toEqual([{ start: 'integrate', task: 'b', commit: 'c1' }]);
    const b = board.tasks.get('b')!;
    const lone = { ...board, tasks: board.tasks.with({ ...b, task: { ...b.task, base: 'nobody' } }) };
    expect(decideFrontier(lone, 9).starts).toEqual([{ start: 'integrate', task: 'b', commit: null }]);
    const theirs = { ...board, tasks: board.tasks.with({ ...b, task: { ...b.task, foreign: 'theirs' } }) };
    const base = board.branch.head;
    expect(decideFrontier(theirs, 9).starts).toEqual([{ start: 'integrate', task: 'b', commit: 'theirs', base }]);
  });

  it('comes in the order of arrival where all else is equal, also what was opened again', () => {
    const ids = ['d', 'c', 'b', 'a'];
    const skipped = make(
      ids.map((id) => newTask(id)),
      [{ do: 'settle-task', id: 'd', as: 'failed', why: 'no' }],
    );
    const opened = applyChanges(skipped, [{ do: 'reopen-task', id: 'd', feedback: 'again', session: 'new' }], AT);
    expect(decideFrontier(opened.board, 9).starts.map(({ task }) => task)).toEqual(ids);
  });

  it('goes to who has the least to do, live turns included', () => {
    const board = after(make([newTask('a'), newTask('b'), newTask('c')]), 'a', begun('a-1'));
    expect(brief(decideFrontier(board, 9))).toEqual(['b-1 by cyd', 'c-1 by bob']);
    const two = make([newTask('a'), newTask('b'), newTask('c'), newTask('d')]);
    const busy = after(after(after(two, 'a', begun('a-1')), 'b', begun('b-1')), 'c', begun('c-1', 'cyd'));
    expect(brief(decideFrontier(busy, 9))).toEqual(['d-1 by cyd']);
  });

  it('is one probe of an account that was parked, and all of one that never was', () => {
    const shared = [member('bob', 'builder', { account: 'one' }), member('cyd', 'builder', { account: 'one' })];
    const board = make([newTask('a'), newTask('b')], [], shared);
    expect(decideFrontier(board, 9).starts).toHaveLength(2);
    const back: Board = { ...board, accounts: new Map([['one', { until: 900, probe: null }]]) };
    expect(decideFrontier(back, 9)).toMatchObject({ starts: [{ task: 'a' }], waiting: [{ task: 'b', until: null }] });
    const probed: Board = { ...board, accounts: new Map([['one', { until: 900, probe: 'x-1' }]]) };
    expect(decideFrontier(probed, 9).starts).toEqual([]);
  });
});

describe('what is held back', () => {
  const question = (more: Partial<Question>): Question => ({
    ...{ id: 'q', text: '?', options: [], blocks: ['a'], by: 'engine', answer: null },
    ...more,
  });
  const asked = (more: Partial<Question>): Board => ({
    ...make([newTask('a')]),
    questions: new Map([['q', question(more)]]),
  });
  const held = { task: 'a', until: null };

  it('by an open question of the playbook, and by no other', () => {
    expect(decideFrontier(asked({ by: 'playbook' }), 9)).toEqual({
      ...{ starts: [], unstaffed: [], over: [] },
      waiting: [{ ...held, why: 'q is open' }],
    });
    expect(brief(decideFrontier(asked({ by: 'playbook', answer: 'yes' }), 9))).toEqual(['a-1 by bob']);
  });

  it.each<[string, Board, object[]]>([
    ['not by a question, which its request knows', asked({}), []],
    ['not by one about the run', asked({ blocks: 'run' }), []],
    [
      'by a person’s pause of the task',
      { ...make([newTask('a')]), pauses: new Map([['task/a', { verb: 'pause', by: 'ada', at: 1 }]]) },
      [{ ...held, why: 'a is paused by ada', paused: true }],
    ],
    [
      'by the pause of all who could do it',
      {
        ...make([newTask('a', { agent: 'bob' })]),
        pauses: new Map([['agent/bob', { verb: 'pause', by: 'ada', at: 1 }]]),
      },
      [{ ...held, why: 'bob paused', paused: true }],
    ],
    [
      'by a session at work',
      after(make([newTask('a', { session: 'agent', agent: 'bob' }), newTask('b')]), 'b', {
        ...begun('b-1'),
        session: 'agent/bob',
      } as WorkEvent),
      [{ ...held, why: 'its session is in use', paused: false }],
    ],
  ])('%s', (_title, board, expected) => {
    expect(decideFrontier(board, 9).waiting).toEqual(expected);
    expect(decideFrontier(board, 9).starts).toHaveLength(expected.length === 0 ? 1 : 0);
  });

  it('until it may be tried again, and not a moment longer', () => {
    const board = after(make([newTask('a')]), 'a', begun('a-1'), gone('a-1', 'network'));
    const { until } = decideFrontier(board, 9).waiting[0]!;
    expect(until).toBeGreaterThan(board.now);
    expect(decideFrontier(board, 9).waiting).toEqual([{ task: 'a', why: 'waits before the next try', until }]);
    expect(decideFrontier({ ...board, now: until! - 1 }, 9).starts).toEqual([]);
    expect(brief(decideFrontier({ ...board, now: until! }, 9))).toEqual(['a-2 by bob']);
  });

  it('while an attempt at it is being stopped: its folder is not free', () => {
    const board = after(make([newTask('a')]), 'a', begun('a-1'), { type: 'retry-asked', fresh: false, note: null });
    expect(decideFrontier(board, 9)).toMatchObject({
      starts: [],
      waiting: [{ task: 'a', why: 'an attempt at a is being stopped', until: null }],
    });
  });

  it('not in review by what is being ended: judges only read', () => {
    const board = inReview(newTask('a', REVIEWED));
    const a = board.tasks.get('a')!;
    const leaving = [{ attempt: 'a-9', agent: 'rex', session: 's' }] as const;
    const ending = { ...board, tasks: board.tasks.with({ ...a, work: { ...a.work, leaving } }) };
    expect(brief(decideFrontier(ending, 9))).toEqual(['a-2 by rio']);
  });

  it('not by anything while a turn of it lives', () => {
    const board = after(make([newTask('a')]), 'a', begun('a-1'));
    expect(decideFrontier(board, 9)).toEqual({ starts: [], waiting: [], unstaffed: [], over: [] });
  });
});

describe('what nobody may do, or a limit forbids', () => {
  const why = 'the task has reached its limit (turns: 1 of 1 used)';

  it('has nobody on the roster', () => {
    const board = { ...make([newTask('a')]), facts: factsOf([]) };
    const unstaffed = [{ task: 'a', why: 'no agent has the role builder' }];
    expect(decideFrontier(board, 9)).toEqual({ starts: [], waiting: [], unstaffed, over: [] });
  });

  it('is over once nothing of it lives', () => {
    expect(decideFrontier(make([newTask('a')]), 9, fullFor('a'))).toEqual({
      starts: [],
      waiting: [],
      unstaffed: [],
      over: [{ task: 'a', why }],
    });
    const live = after(inReview(newTask('a', BOTH)), 'a', begun('a-2', 'rex', 'reviewer'));
    expect(decideFrontier(live, 9, fullFor('a'))).toEqual({
      starts: [],
      waiting: [{ task: 'a', why, until: null }],
      unstaffed: [],
      over: [],
    });
  });

  it('is not over while one of its judges can begin, whichever is asked first', () => {
    const board = inReview(newTask('a', BOTH), [newTask('b', { agent: 'cyd' })]);
    const first = decideFrontier(board, 9, fullFor('rex', 'rio', 'cyd'));
    expect(brief(first)).toEqual(['a-2 by tom']);
    expect(first.waiting).toEqual([]);
    expect(first.over).toEqual([{ task: 'b', why: 'cyd has reached its limit (turns: 1 of 1 used)' }]);
    const last = decideFrontier(board, 9, fullFor('tom', 'cyd'));
    expect(brief(last)).toEqual(['a-2 by rex']);
    expect(last.waiting).toEqual([{ task: 'a', why: 'tom has reached its limit (turns: 1 of 1 used)', until: null }]);
    expect(decideFrontier(board, 9, fullFor('rex', 'rio', 'tom')).over).toMatchObject([{ task: 'a' }]);
  });

  it('is asked about with the turns that start together', () => {
    const counted: string[] = [];
    const room: Room = {
      ...ROOM_FOR_ALL,
      task: (id, starting) => {
        counted.push(`${id} ${starting}`);
        return undefined;
      },
    };
    decideFrontier(inReview(newTask('a', BOTH), [newTask('b')]), 9, room);
    expect(counted).toEqual(['a 0', 'a 1', 'b 0']);
  });
});
