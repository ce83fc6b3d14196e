import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier } from '../../src/rules/frontier.ts';
import { refuseIntervention } from '../../src/rules/intervene.ts';
import { decideNext, type NextFacts } from '../../src/rules/next.ts';
import { statusOf } from '../../src/rules/work-status.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { PlaybookEvent } from '../../src/model/plan/event.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { factsOf, failed, member } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED } from './support.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

const AT = { seq: 1, at: 1_000 };
const FREE: NextFacts = {
  parallel: 4,
  limits: { reached: false },
  now: 1_000,
  draining: false,
  patienceMs: null,
  pendingMail: 0,
};
const ROSTER = [member('bob', 'builder'), member('cyd', 'builder'), member('rex', 'reviewer')];

function make(tasks: readonly NewTask[], more: readonly PlanChange[] = []): Board {
  const changes = [...tasks.map((task) => ({ do: 'add-task', task }) as const), ...more];
  return applyChanges(createBoard(factsOf(ROSTER)), changes, AT).board;
}

function works(board: Board, task: string, ...events: readonly WorkEvent[]): Board {
  return events.reduce((before, event) => applyWork(before, task, event, AT).board, board);
}

function wish(
  board: Board,
  intervention: Intervention,
  by = 'ada',
): { board: Board; events: readonly PlaybookEvent[] } {
  return acceptEvent(board, { ...AT, type: 'intervention', intervention, by });
}

function started(attempt: string, agent = 'bob', review: string | null = null): WorkEvent {
  return { type: 'attempt-started', attempt, agent, account: `account-${agent}`, session: `s-${attempt}`, review };
}

function gone(attempt: string, kind: Parameters<typeof failed>[0] = 'cancelled'): WorkEvent {
  return { type: 'attempt-settled', attempt, outcome: 'failed', text: '', ...failed(kind) };
}

const done = (attempt: string): WorkEvent => ({ type: 'attempt-settled', attempt, outcome: 'completed', text: 'ok' });
const seen: WorkEvent = { type: 'evidence-gathered', facts: FACTS };
const starts = (board: Board) => decideFrontier(board, 9).starts;
const status = (board: Board, id: string) => statusOf(board.tasks.get(id)!, board);
const settle = (id: string, as: 'failed' | 'cancelled'): PlanChange => ({ do: 'settle-task', id, as, why: 'it broke' });

describe('a pause', () => {
  const two = make([newTask('a'), newTask('b')]);

  it('of the run starts nothing, lets live turns end, and keeps the engine', () => {
    const paused = wish(works(two, 'a', started('a-1')), { verb: 'pause', on: 'run' }).board;
    expect(decideNext(paused, FREE)).toMatchObject({ next: 'wait', suspended: false });
    const still = works(paused, 'a', gone('a-1'));
    expect(decideNext(still, FREE)).toMatchObject({ next: 'wait', suspended: true, until: null, why: 'paused by ada' });
    expect(decideNext(still, { ...FREE, draining: true })).toMatchObject({ next: 'stop', because: 'drained' });
    expect(decideNext(wish(still, { verb: 'resume', on: 'run' }).board, FREE)).toMatchObject({ next: 'start' });
  });

  it('of a task or an agent holds back that alone', () => {
    const task = wish(two, { verb: 'pause', on: 'task/a' }).board;
    expect(starts(task).map((one) => one.task)).toEqual(['b']);
    const agent = wish(two, { verb: 'pause', on: 'agent/bob' }).board;
    expect(starts(agent)).toMatchObject([{ agent: 'cyd' }, { agent: 'cyd' }]);
    const both = wish(agent, { verb: 'pause', on: 'agent/cyd' }).board;
    expect(decideNext(both, FREE)).toMatchObject({ next: 'wait', suspended: true, why: 'bob, cyd paused' });
  });

  it('does not publish what is finished meanwhile', () => {
    const finished = make([newTask('a')], [{ do: 'finish', outcome: 'failed', why: 'all' }]);
    expect(
      decideNext({ ...finished, pauses: wish(two, { verb: 'pause', on: 'run' }).board.pauses }, FREE),
    ).toMatchObject({
      next: 'wait',
      suspended: true,
    });
  });
});

it.each(['drain', 'stop'] as const)('%s: nothing starts, and once nothing lives its engine ends', (verb) => {
  const held = wish(works(make([newTask('a'), newTask('b')]), 'a', started('a-1')), { verb }).board;
  expect(decideNext(held, FREE)).toMatchObject({ next: 'wait', suspended: false });
  expect(decideNext(works(held, 'a', gone('a-1')), FREE)).toMatchObject({ next: 'stop', because: 'drained' });
});

describe('a deadline that a person lets pass', () => {
  const objective = { ...factsOf(ROSTER).objective, deadline: 500 };
  const board = applyChanges(
    createBoard(factsOf(ROSTER, { objective })),
    [{ do: 'add-task', task: newTask('a') }],
    AT,
  ).board;

  it('stops nothing from then on', () => {
    expect(decideNext(board, FREE)).toMatchObject({ next: 'stop', because: 'deadline' });
    const past = wish(board, { verb: 'past-deadline' }, 'bea').board;
    expect([past.pastDeadline, decideNext(past, FREE).next]).toEqual(['bea', 'start']);
    expect(wish(past, { verb: 'resume', on: 'run' }).board.pastDeadline).toBe('bea');
  });
});

describe('a cancel', () => {
  it('of the run ends it once what lives is settled', () => {
    const { board } = wish(works(make([newTask('a'), newTask('b')]), 'a', started('a-1')), {
      verb: 'cancel',
      on: 'run',
      why: 'wrong',
    });
    expect(decideNext(board, FREE)).toMatchObject({ next: 'wait' });
    expect(decideNext(works(board, 'a', gone('a-1')), FREE)).toEqual({
      next: 'finish',
      outcome: 'cancelled',
      why: 'cancelled by ada: wrong',
    });
  });

  it('of a task tells the playbook that it failed', () => {
    const { board, events } = wish(make([newTask('a')]), { verb: 'cancel', on: 'task/a', why: 'no' });
    expect(status(board, 'a')).toBe('cancelled');
    expect(events).toMatchObject([{ type: 'task-failed', task: 'a', cause: 'cancelled', why: 'ada says so: no' }]);
  });
});

describe('a retry', () => {
  const retry = { verb: 'retry', task: 'a', fresh: false } as const;

  it('of a live turn ends it first; its folder is not free before', () => {
    const { board } = wish(works(make([newTask('a')]), 'a', started('a-1')), retry);
    expect(board.tasks.get('a')?.work.leaving).toMatchObject([{ attempt: 'a-1' }]);
    expect(starts(board)).toEqual([]);
    expect(starts(works(board, 'a', gone('a-1')))).toMatchObject([
      { attempt: 'a-2', session: { key: 's-a-1', resume: true }, prompt: { why: 'continue' } },
    ]);
  });

  it('of a failed task opens it again with budgets of its own, and what was given up with it', () => {
    const board = make(
      [newTask('a'), newTask('b', { needs: ['a'] }), newTask('c')],
      [settle('a', 'failed'), settle('b', 'cancelled'), settle('c', 'cancelled')],
    );
    const again = wish(board, retry).board;
    expect(['a', 'b', 'c'].map((id) => status(again, id))).toEqual(['ready', 'waiting', 'cancelled']);
    const over = applyChanges(board, [{ do: 'finish', outcome: 'failed', why: 'a failed' }], AT).board;
    const reopened = wish(over, retry).board;
    expect(reopened.finished).toBeNull();
    expect(['a', 'b', 'c'].map((id) => status(reopened, id))).toEqual(['ready', 'waiting', 'ready']);
  });

  const piece = (parent: string) => [
    newTask('a-commit', { needs: ['a'], base: 'a', parent }),
    newTask('a-test', { needs: ['a-commit'], workspace: { read: 'run' }, integrate: false, parent }),
  ];
  const beside = [newTask('c', { needs: ['a-test'] }), newTask('check', { needs: ['a'] }), newTask('z')];
  const skip = (id: string): PlanChange => ({ do: 'settle-task', id, as: 'skipped', why: 'a was skipped' });
  it.each([
    ['planned', 'a', newTask('a')],
    ['added by mail', 'm', newTask('a', { needs: ['m'], parent: 'm' })],
  ])('of a skipped task opens the rest of its piece again, which was %s, and nothing else', (_how, parent, a) => {
    const board = make(
      [newTask('m'), a, ...piece(parent), ...beside],
      [...['m', 'a', 'a-commit', 'a-test', 'check', 'z'].map(skip), settle('c', 'failed')],
    );
    const ended = (on: Board) =>
      ['m', 'a', 'a-commit', 'a-test', 'c', 'check', 'z'].filter((id) => on.tasks.get(id)?.work.phase.at === 'ended');
    for (const intervention of [retry, { verb: 'override', task: 'a', as: 'done', why: '' } as const]) {
      const open = ended(wish(board, intervention).board).filter((id) => id !== 'a');
      expect(open).toEqual(['m', 'c', 'check', 'z']);
    }
    const person = wish(board, { ...retry, task: 'a-commit' }).board;
    expect(ended(person)).toEqual(['m', 'a', 'c', 'check', 'z']);
    const said = wish(wish(board, { ...retry, task: 'a-test' }).board, { verb: 'skip', task: 'a-test', why: '' }).board;
    expect(ended(wish(said, retry).board)).toEqual(['m', 'a-test', 'c', 'check', 'z']);
  });

  it('leaves ended what a person ended', () => {
    const board = wish(make([newTask('a'), newTask('b', { needs: ['a'] })], [settle('a', 'failed')]), {
      verb: 'cancel',
      on: 'task/b',
      why: 'no',
    }).board;
    expect(status(wish(board, retry).board, 'b')).toBe('cancelled');
  });

  it('is not ended at once by what the task has used before', () => {
    const over = { agent: () => undefined, task: () => 'turns: 3 of 3 used' };
    const board = make([newTask('a')], [settle('a', 'failed')]);
    expect(decideFrontier(make([newTask('a')]), 9, over)).toMatchObject({ starts: [], over: [{ task: 'a' }] });
    expect(decideFrontier(wish(board, retry).board, 9, over)).toMatchObject({ starts: [{ task: 'a' }], over: [] });
  });

  it('fresh: in a new session, and a folder as the run branch is', () => {
    const board = works(make([newTask('a')]), 'a', started('a-1'), gone('a-1', 'model-refused'));
    const again = wish(board, { ...retry, fresh: true, note: 'try it in Go' }).board;
    expect(again.tasks.get('a')?.work.author).toMatchObject({ reset: true, session: 'new' });
    expect(starts(again)).toMatchObject([
      { session: { resume: false }, prompt: { why: 'feedback', from: 'person', text: 'try it in Go' } },
    ]);
  });

  it('by another agent: it does the task from now on, in a session of its own', () => {
    const board = works(make([newTask('a')]), 'a', started('a-1', 'bob'), gone('a-1', 'model-refused'));
    expect(starts(wish(board, retry).board)).toMatchObject([{ agent: 'bob', session: { resume: true } }]);
    const given = wish(board, { ...retry, agent: 'cyd' }).board;
    expect(starts(given)).toMatchObject([{ task: 'a', agent: 'cyd', session: { resume: false } }]);
    const broken = works(given, 'a', started('a-2', 'cyd'), gone('a-2', 'model-refused'));
    expect(starts(wish(broken, retry).board)).toMatchObject([{ agent: 'cyd', session: { resume: true } }]);
  });

  it.each([
    ['rex', 'a needs the role builder, which rex does not have: bob, cyd'],
    ['cid', 'there is no agent cid; did you mean cyd?'],
  ])('is refused for %s, and changes nothing', (agent, why) => {
    const board = make([newTask('a')], [settle('a', 'failed')]);
    expect(refuseIntervention(board, { ...retry, agent })).toBe(why);
    expect(wish(board, { ...retry, agent }).board.tasks.get('a')).toEqual(board.tasks.get('a'));
  });

  it('keeps the reset until an agent has acted in the folder', () => {
    const fresh = wish(make([newTask('a')], [settle('a', 'failed')]), { ...retry, fresh: true }).board;
    const lost = works(fresh, 'a', started('a-1'), {
      type: 'attempt-settled',
      attempt: 'a-1',
      outcome: 'failed',
      text: '',
      failure: { kind: 'never-started', message: '', mayHaveActed: false },
    });
    expect(lost.tasks.get('a')?.work.author.reset).toBe(true);
    const acted = works(fresh, 'a', started('a-1'), gone('a-1', 'crashed'));
    expect(acted.tasks.get('a')?.work.author.reset).toBe(false);
  });

  it('of a review asks those again who have not judged', () => {
    const reviewing = works(
      make([newTask('a', REVIEWED)]),
      'a',
      started('a-1'),
      done('a-1'),
      seen,
      started('a-2', 'rex', 'reviewer'),
    );
    const again = works(wish(reviewing, retry).board, 'a', gone('a-2'));
    expect(status(again, 'a')).toBe('reviewing');
    expect(starts(again)).toMatchObject([{ review: 'reviewer', attempt: 'a-3', agent: 'rex' }]);
  });

  it('of a review that has reached a cap does not end the task', () => {
    const over = { agent: () => undefined, task: () => 'turns: 2 of 2 used' };
    const judged = [started('a-1'), done('a-1'), seen, started('a-2', 'rex', 'reviewer')];
    const again = wish(works(make([newTask('a', REVIEWED)]), 'a', ...judged), retry).board;
    expect(decideFrontier(works(again, 'a', gone('a-2')), 9, over)).toMatchObject({
      starts: [{ review: 'reviewer' }],
      over: [],
    });
  });

  it('grants rounds anew', () => {
    const rejects = { approved: false, summary: 'no', findings: [finding('x')], settled: ALL_FIXED };
    const once = newTask('a', { review: { by: ['reviewer'], quorum: 'all', rounds: 1, criteria: ['it works'] } });
    const round = (number: number, commit: string): WorkEvent[] => [
      started(`a-${number}`),
      done(`a-${number}`),
      { type: 'evidence-gathered', facts: { ...FACTS, commit } },
      started(`a-${number + 1}`, 'rex', 'reviewer'),
      { type: 'attempt-settled', attempt: `a-${number + 1}`, outcome: 'completed', text: '', output: rejects },
    ];
    const rejected = works(make([once]), 'a', ...round(1, 'c1'));
    expect(status(rejected, 'a')).toBe('failed');
    const again = wish(rejected, retry).board;
    expect(starts(again)).toMatchObject([{ prompt: { why: 'feedback', from: 'person' } }]);
    const twice = works(again, 'a', ...round(3, 'c2'));
    expect(twice.tasks.get('a')?.work.phase).toMatchObject({
      cause: 'rejected',
      why: expect.stringMatching(/^rejected in round 1 of 1/) as string,
    });
  });
});

describe('a skip and an override', () => {
  it('let what needs the task go on', () => {
    const board = make(
      [newTask('a'), newTask('b', { needs: ['a'] })],
      [settle('a', 'failed'), settle('b', 'cancelled')],
    );
    const { board: skipped, events } = wish(board, { verb: 'skip', task: 'a', why: 'not needed' });
    expect([status(skipped, 'a'), status(skipped, 'b')]).toEqual(['skipped', 'ready']);
    expect(events).toMatchObject([{ type: 'task-skipped', task: 'a', why: 'ada says so: not needed' }]);
  });

  it('done: what is there is delivered past its reviewers, not past checks', () => {
    const reviewing = works(make([newTask('a', REVIEWED)]), 'a', started('a-1'), done('a-1'), seen);
    const { board, events } = wish(reviewing, { verb: 'override', task: 'a', as: 'done', why: 'I read it' });
    expect(board.tasks.get('a')?.work.phase).toMatchObject({ at: 'in-queue', commit: 'c1' });
    expect(events).toEqual([]);
  });

  it('done: where nothing can be delivered, it is a person’s word', () => {
    const { board, events } = wish(make([newTask('a')]), { verb: 'override', task: 'a', as: 'done', why: 'by hand' });
    expect(board.tasks.get('a')?.work).toMatchObject({
      phase: { at: 'ended', as: 'done', why: 'ada says so: by hand' },
      override: { by: 'ada' },
    });
    expect(events).toMatchObject([{ type: 'task-done', task: 'a' }]);
  });

  it('end a live turn first', () => {
    const { board } = wish(works(make([newTask('a')]), 'a', started('a-1')), { verb: 'skip', task: 'a', why: '' });
    expect(board.tasks.get('a')?.work.phase).toMatchObject({ at: 'stopping', as: 'skipped' });
    expect(status(works(board, 'a', gone('a-1')), 'a')).toBe('skipped');
  });

  it('withdraw the engine’s question about the task', () => {
    const blocked = works(make([newTask('a')]), 'a', started('a-1'), gone('a-1', 'auth'));
    expect([...blocked.questions.values()]).toMatchObject([{ answer: null, blocks: ['a'] }]);
    const { board } = wish(blocked, { verb: 'skip', task: 'a', why: '' });
    expect([...board.questions.values()]).toMatchObject([{ answer: 'withdrawn' }]);
  });
});

describe('a switch', () => {
  it('of an agent: its next turns are another runtime’s, in a new session, on that account', () => {
    const at = works(make([newTask('a', { agent: 'bob' })]), 'a', started('a-1'), gone('a-1'));
    const { board } = wish(at, { verb: 'switch', on: 'agent/bob', runtime: 'codex' });
    expect(starts(board)).toMatchObject([{ agent: 'bob', account: 'codex', session: { resume: false } }]);
  });

  const toCodex = { verb: 'switch', on: 'agent/bob', runtime: 'codex' } as const;
  const sentBack: WorkEvent = { type: 'evidence-gathered', facts: { ...FACTS, commit: null, commits: 0 } };
  const owing = newTask('a', { agent: 'bob', requires: [{ kind: 'commit' }] });
  it.each<[string, NewTask, readonly WorkEvent[]]>([
    ['fails', owing, [gone('a-1', 'crashed')]],
    ['is cut short', owing, [gone('a-1')]],
    ['is sent back', owing, [done('a-1'), sentBack]],
  ])('while a turn is live: also where that %s, its session is left behind', (_how, task, after) => {
    const { board } = wish(works(make([task]), 'a', started('a-1')), toCodex);
    expect(starts({ ...works(board, 'a', ...after), now: 9e12 })).toMatchObject([{ session: { resume: false } }]);
  });

  it('stays one where the turn is tried again', () => {
    const { board } = wish(works(make([owing]), 'a', started('a-1')), toCodex);
    const again = wish(board, { verb: 'retry', task: 'a', fresh: false }).board;
    expect(starts(works(again, 'a', gone('a-1')))).toMatchObject([{ session: { resume: false } }]);
  });

  it('of a reviewer at work: asked again, it begins a new session', () => {
    const judged = [started('a-1'), done('a-1'), seen, started('a-2', 'rex', 'reviewer')];
    const at = wish(works(make([newTask('a', REVIEWED)]), 'a', ...judged), { ...toCodex, on: 'agent/rex' }).board;
    const again = wish(at, { verb: 'retry', task: 'a', fresh: false }).board;
    expect(starts(works(again, 'a', gone('a-2')))).toMatchObject([{ agent: 'rex', session: { resume: false } }]);
  });

  it('of a task: whoever does it', () => {
    const { board } = wish(make([newTask('a'), newTask('b')]), { verb: 'switch', on: 'task/a', runtime: 'codex' });
    const accounts = starts(board).map((one) => (one.start === 'turn' ? [one.task, one.account] : []));
    expect(accounts).toEqual([
      ['a', 'codex'],
      ['b', 'account-cyd'],
    ]);
  });
});

describe('what is not possible', () => {
  const board = make(
    [newTask('a'), newTask('b'), newTask('c')],
    [settle('b', 'failed'), { do: 'settle-task', id: 'c', as: 'done', why: 'delivered' }],
  );
  const busy = works(make([newTask('a')]), 'a', started('a-1'), done('a-1'));
  const looked = works(make([newTask('d', REVIEWED)]), 'd', started('d-1'), done('d-1'));
  const over = make([newTask('a')], [settle('a', 'cancelled'), { do: 'finish', outcome: 'failed', why: 'all' }]);
  it.each<[Intervention, Board, RegExp]>([
    [{ verb: 'pause', on: 'task/x' }, board, /^there is no task x; there are a, b, c$/],
    [{ verb: 'resume', on: 'task/aa' }, board, /^there is no task aa; did you mean a\?$/],
    [{ verb: 'retry', task: 'ab', fresh: false }, board, /^there is no task ab; did you mean a\?$/],
    [{ verb: 'skip', task: 'bb', why: '' }, board, /^there is no task bb; did you mean b\?$/],
    [{ verb: 'override', task: 'cc', as: 'done', why: '' }, board, /^there is no task cc; did you mean c\?$/],
    [{ verb: 'cancel', on: 'task/dd', why: '' }, board, /^there is no task dd; there are a, b, c$/],
    [{ verb: 'switch', on: 'task/dd', runtime: 'codex' }, board, /^there is no task dd; there are a, b, c$/],
    [{ verb: 'switch', on: 'agent/bib', runtime: 'codex' }, board, /^there is no agent bib; did you mean bob\?$/],
    [{ verb: 'pause', on: 'agent/x' }, board, /no agent x; there are bob, cyd, rex/],
    [{ verb: 'resume', on: 'run' }, board, /run is not paused/],
    [{ verb: 'retry', task: 'c', fresh: false }, board, /delivered/],
    [{ verb: 'retry', task: 'a', fresh: false }, busy, /checked and delivered/],
    [{ verb: 'skip', task: 'c', why: '' }, board, /delivered already/],
    [{ verb: 'override', task: 'b', as: 'failed', why: '' }, board, /failed already/],
    [{ verb: 'override', task: 'c', as: 'failed', why: '' }, board, /delivered already/],
    [{ verb: 'override', task: 'd', as: 'done', why: '' }, looked, /is being checked/],
    [{ verb: 'override', task: 'a', as: 'failed', why: '' }, over, /the run has finished/],
    [{ verb: 'cancel', on: 'task/b', why: '' }, board, /failed already/],
    [{ verb: 'past-deadline' }, board, /^its objective has no deadline$/],
    [{ verb: 'past-deadline' }, over, /the run has finished/],
    [{ verb: 'switch', on: 'run', runtime: 'codex' }, board, /an agent or a task/],
  ])('%j', (intervention, on, why) => {
    expect(refuseIntervention(on, intervention)).toMatch(why);
    // It changes nothing then.
    expect(wish(on, intervention).board).toEqual({ ...on, now: AT.at, seq: AT.seq });
  });
});

describe('the last fallback after a stall', () => {
  const stalled = (task: NewTask, fallback: 'skip' | 'fail'): Board =>
    works(
      make([task]),
      'a',
      started('a-1'),
      { type: 'wall-raised', attempt: 'a-1', why: 'no tool' },
      { type: 'wall-fallback', attempt: 'a-1', fallback },
      gone('a-1'),
    );

  it('skips, where that was agreed', () => expect(status(stalled(newTask('a'), 'skip'), 'a')).toBe('skipped'));

  it('fails work that nobody judges', () => expect(status(stalled(newTask('a'), 'fail'), 'a')).toBe('failed'));

  it('has what is there judged as it is, committed by the engine', () => {
    const requires = [{ kind: 'diff' }, { kind: 'commit' }] as const;
    const board = stalled(newTask('a', { ...REVIEWED, requires: [...requires] }), 'fail');
    expect(board.tasks.get('a')?.work.phase.at).toBe('gathering');
    const uncommitted = { ...FACTS, commits: 0, uncommitted: ['a.txt'] };
    const judged = works(board, 'a', { type: 'evidence-gathered', facts: uncommitted });
    expect(status(judged, 'a')).toBe('reviewing');
    const nothing = works(board, 'a', {
      type: 'evidence-gathered',
      facts: { ...FACTS, commit: null, changedPaths: [] },
    });
    expect(nothing.tasks.get('a')?.work.phase).toMatchObject({
      as: 'failed',
      cause: 'attempts',
      why: expect.stringContaining('no tool') as string,
    });
  });
});
