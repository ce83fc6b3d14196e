import { describe, expect, it } from 'vitest';
import { nothingSince } from '../../src/rules/evidence.ts';
import { authorAnswered, evidenceGathered, withoutEvidence } from '../../src/rules/work-author.ts';
import { newWork, stepWork } from '../../src/rules/work.ts';
import type { EvidenceFacts } from '../../src/model/plan/evidence.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Work, WorkEvent } from '../../src/model/plan/work.ts';
import { contextOf, FACTS, liveRequest, REVIEWED } from './support.ts';

const GATHERING: Partial<Work> = { phase: { at: 'gathering' } };
const SETTLED: WorkEvent = { type: 'attempt-settled', attempt: 't-1', outcome: 'completed', text: '' };
const CHECKER = { path: 'x', status: 'modified', added: 1, removed: 1 } as const;

function gathered(work: Partial<Work>, facts: Partial<EvidenceFacts>, task: Partial<NewTask> = {}) {
  return evidenceGathered({ ...newWork(), ...GATHERING, ...work }, { ...FACTS, ...facts }, contextOf(task));
}

function settled(work: Partial<Work>, event: object, task: Partial<NewTask>) {
  return stepWork({ ...newWork(), author: liveRequest('t-1'), ...work }, { ...SETTLED, ...event }, contextOf(task));
}

const REJECTION = {
  ...{ round: 1, commit: 'c1', approved: false, feedback: 'x', findings: ['x', 'y'], by: [] },
  labels: ['F1', 'F2'],
};
const disagreed = (findings: readonly string[], why = 'it is right as it is'): Partial<Work> => ({
  ...{ round: 2, rounds: [REJECTION] },
  report: {
    ...{ round: 2, done: '', checked: [], assumed: [], notDone: [] },
    replies: findings.map((finding) => ({ finding, as: 'disagree', why })),
  },
});
const DISAGREED: Partial<Work> = { ...disagreed(['F1', 'f2: the second']), returned: 'c1' };
const JUDGED_AGAIN = { phase: { at: 'reviewing', commit: 'c1' }, returned: null, round: 2 };

describe('an author who says that the work is done', () => {
  it.each<[string, Partial<NewTask>, string]>([
    ['is believed, if nothing is asked for', { requires: [], integrate: false }, 'ended'],
    ['is not believed, if something is asked for', { integrate: false }, 'gathering'],
    ['is not believed, if it is integrated', { requires: [] }, 'gathering'],
    ['is not believed, if it is reviewed', { requires: [], integrate: false, ...REVIEWED }, 'gathering'],
    ['is believed, if the engine does it', { kind: 'check', requires: [] }, 'ended'],
  ])('%s', (_name, task, at) => expect(authorAnswered(newWork(), contextOf(task)).work.phase.at).toBe(at));

  it('leaves an answer', () => {
    const task: Partial<NewTask> = { output: { schema: 'plan', repairs: 1 } };
    expect(settled({}, { output: { a: 1 } }, task).work).toMatchObject({
      output: { a: 1 },
      phase: { at: 'gathering' },
    });
    expect(settled({ output: 'old' }, {}, {}).work.output).toBeNull();
  });
});

describe('an answer of the wrong form', () => {
  const task = (repairs: number): Partial<NewTask> => ({ output: { schema: 'plan', repairs } });
  it.each<[string, object, Partial<NewTask>, object]>([
    ['goes back', {}, task(1), { why: 'repair', text: 'no answer of the form plan' }],
    ['goes back with all problems', { output: {}, problems: ['a', 'b'] }, task(1), { why: 'repair', text: 'a\nb' }],
  ])('%s', (_name, event, more, prompt) => {
    expect(settled({}, event, more).work).toMatchObject({ phase: { at: 'working' }, author: { prompt } });
  });

  it('fails the task where none may be repaired', () => {
    expect(settled({}, {}, task(0)).news).toMatchObject([
      { type: 'task-failed', cause: 'bad-output', why: 'bad-output: no answer of the form plan' },
    ]);
  });

  it('is none, if no form is asked for', () => {
    expect(settled({}, { problems: ['x'] }, {}).work.phase.at).toBe('gathering');
  });
});

describe('an author who cannot go on', () => {
  const failure = { kind: 'cancelled', message: 'm', mayHaveActed: true } as const;
  const stopped = (stop: 'skip' | 'fail', task: Partial<NewTask>, work: Partial<Work> = {}) =>
    settled(
      { author: liveRequest('t-1', 'bob', { stop, stall: 'silent' }), ...work },
      { outcome: 'cancelled', failure },
      task,
    );

  it.each<[string, 'skip' | 'fail', Partial<NewTask>, object]>([
    ['is left out', 'skip', REVIEWED, { at: 'ended', as: 'skipped', cause: 'attempts', why: 'stalled: silent' }],
    ['fails without a reviewer', 'fail', {}, { at: 'ended', as: 'failed', cause: 'attempts', why: 'stalled: silent' }],
    ['fails without a folder', 'fail', { ...REVIEWED, workspace: 'none' }, { at: 'ended', as: 'failed' }],
    ['is judged as it is', 'fail', REVIEWED, { at: 'gathering' }],
  ])('%s', (_name, stop, task, phase) => {
    expect(stopped(stop, task).work.phase).toMatchObject(phase);
  });

  it('is remembered, if its work is judged', () => {
    expect(stopped('fail', REVIEWED).work.stalled).toBe('stalled: silent');
  });

  it('names first what it was sent back for', () => {
    const { news } = stopped('skip', {}, { sentBack: { by: 'review', text: 'bad' } });
    expect(news).toMatchObject([{ type: 'task-skipped', why: 'bad\nafter that: stalled: silent' }]);
  });

  it('fails, if it just failed', () => {
    const caps = { retries: 0 };
    const step = settled({}, { outcome: 'failed', failure: { ...failure, kind: 'crashed' } }, { ...caps, ...REVIEWED });
    expect(step.work.phase.at).not.toBe('gathering');
  });
});

describe('evidence', () => {
  it('is late in another phase', () => {
    const work = { ...newWork(), phase: { at: 'in-queue', commit: 'c', since: 1 } } as Work;
    expect(evidenceGathered(work, FACTS, contextOf()).work).toBe(work);
  });

  it.each<[string, Partial<Work>, Partial<NewTask>, object]>([
    ['takes work to its reviewers', {}, REVIEWED, { at: 'reviewing', commit: 'c1' }],
    ['takes work into the queue', {}, {}, { at: 'in-queue', commit: 'c1', since: 9 }],
    [
      'takes work on at once that holds the queue',
      { phase: { at: 'gathering', holdsQueue: true } },
      {},
      { at: 'integrating', commit: 'c1', since: 9 },
    ],
    ['ends work that is neither reviewed nor integrated', {}, { integrate: false }, { at: 'ended', as: 'done' }],
    ['ends a check', {}, { kind: 'check' }, { at: 'ended', as: 'done' }],
    ['ends work without a folder of its own', {}, { workspace: { read: 'run' } }, { at: 'ended', as: 'done' }],
  ])('%s', (_name, work, task, phase) => expect(gathered(work, {}, task).work.phase).toMatchObject(phase));

  it('of work that may change nothing ends it', () => {
    const nothing = { commit: null, changedPaths: [], commits: 0 };
    const task: Partial<NewTask> = { requires: [], mayChangeNothing: true };
    expect(gathered({}, nothing, task).work).toMatchObject({ phase: { at: 'ended', as: 'done' }, commit: null });
    expect(gathered({}, nothing, { requires: [] }).work.phase.at).toBe('working');
  });

  it('is remembered', () => {
    const before = { returns: { evidence: 1, conflict: 2, verify: 1 }, stalled: null, returned: 'old' };
    const { work } = gathered({ ...before, sentBack: { by: 'evidence', text: 'x' } }, { base: 'b' });
    expect(work).toMatchObject({ commit: 'c1', kept: 'c1', base: 'b', returned: null, sentBack: null });
    expect(work.returns).toEqual({ evidence: 0, conflict: 2, verify: 1 });
    expect(gathered({ sentBack: { by: 'review', text: 'x' } }, {}).work.sentBack).toMatchObject({ by: 'review' });
    expect(gathered({}, {}, { workspace: { read: 'run' } }).work.commit).toBeNull();
  });

  it('keeps what was kept before, if there is nothing newer', () => {
    expect(gathered({ kept: 'old' }, { commit: null }).work.kept).toBe('old');
    expect(gathered({ kept: 'old' }, { commit: 'new' }).work.kept).toBe('new');
  });

  it('keeps what its commands have shown', () => {
    const commands = [{ run: 'a', passed: true, output: '', flaky: true } as const];
    expect(gathered({}, { commands }).work.noted).toEqual({ flaky: ['a'], changed: [] });
  });

  it('shows reviewers what changed of the checks', () => {
    expect(gathered({}, { checkers: [CHECKER] }, REVIEWED).work.phase).toMatchObject({ checkers: [CHECKER] });
    expect(gathered({}, { checkers: [] }, REVIEWED).work.phase).not.toHaveProperty('checkers');
    expect(gathered({}, {}, REVIEWED).work.phase).not.toHaveProperty('checkers');
  });

  it.each<[string, Partial<Work>, Partial<EvidenceFacts>, Partial<NewTask>, object]>([
    [
      'sends work back that lacks something',
      {},
      { changedPaths: [] },
      {},
      { phase: { at: 'working' }, returns: { evidence: 1 } },
    ],
    [
      'sends the same commit back',
      { returned: 'c1' },
      {},
      {},
      { phase: { at: 'working' }, feedback: [nothingSince('c1')] },
    ],
    [
      'sends the same commit back, if its author disagrees with some findings only',
      { ...disagreed(['F1']), returned: 'c1' },
      {},
      {},
      { phase: { at: 'working' } },
    ],
    ['lets the same commit be judged again, if its author disagrees with all', DISAGREED, {}, REVIEWED, JUDGED_AGAIN],
    [
      'sends the same commit back, if it was judged again before',
      { ...DISAGREED, rounds: [REJECTION, REJECTION] },
      {},
      REVIEWED,
      { phase: { at: 'working' } },
    ],
    [
      'sends the same commit back, if the replies are to another round',
      { ...DISAGREED, round: 3 },
      {},
      REVIEWED,
      { phase: { at: 'working' } },
    ],
    ['takes the same commit of a check', { returned: 'c1' }, {}, { kind: 'check' }, { phase: { as: 'done' } }],
    [
      'takes the same commit, if the folder is not its own',
      { returned: 'c1' },
      {},
      { workspace: { read: 'run' }, integrate: false },
      { phase: { as: 'done' } },
    ],
    [
      'fails work that lacks something again',
      { returns: { evidence: 1, conflict: 0, verify: 0 } },
      { changedPaths: [] },
      {},
      { phase: { cause: 'no-evidence' } },
    ],
    [
      'fails work that was lost',
      { returns: { evidence: 1, conflict: 0, verify: 0 } },
      { changedPaths: [], lost: true },
      {},
      { phase: { cause: 'attempts' } },
    ],
    [
      'fails a check',
      {},
      { changedPaths: [] },
      { kind: 'check' },
      { phase: { cause: 'verify', why: 'no file was changed' } },
    ],
    [
      'fails stalled work for the stall',
      { stalled: 'silent' },
      { changedPaths: [] },
      {},
      { phase: { cause: 'attempts', why: 'silent' } },
    ],
    [
      'lets stalled work lack a commit',
      { stalled: 'silent' },
      { commits: 0 },
      { requires: [{ kind: 'commit' }] },
      { phase: { at: 'in-queue' }, stalled: null },
    ],
    [
      'lets no other work lack a commit',
      {},
      { commits: 0 },
      { requires: [{ kind: 'commit' }] },
      { phase: { at: 'working' } },
    ],
  ] as [string, Partial<Work>, Partial<EvidenceFacts>, Partial<NewTask>, object][])(
    '%s',
    (_name, work, facts, task, expected) => {
      expect(gathered(work, facts, task).work).toMatchObject(expected);
    },
  );

  it('that a check failed without cause runs it once more', () => {
    const checked = { candidate: 'm', command: 'a', failures: 1 };
    const work: Partial<Work> = { returned: 'c1', sentBack: { by: 'verify', text: 'red' }, checked };
    expect(gathered(work, {}).work).toMatchObject({ commit: 'c1', phase: { at: 'in-queue', commit: 'c1', since: 9 } });
    expect(gathered({ ...work, checked: { ...checked, failures: 2 } }, {}).work.phase.at).toBe('working');
  });
});

describe('a pull request that cannot be opened', () => {
  const task: Partial<NewTask> = { requires: [{ kind: 'pr' }] };
  it('is asked about, and its author waits', () => {
    const step = gathered({}, { pr: null, prProblem: 'no login' }, task);
    expect(step.effects).toEqual([
      {
        ...{ effect: 'ask', id: 'engine/pull-request/t', options: ['try again', 'give up'] },
        text: 'no pull request can be opened for t: no login',
      },
    ]);
    expect(step.work).toMatchObject({
      phase: { at: 'working' },
      author: {
        state: { at: 'blocked', question: 'engine/pull-request/t' },
        prompt: { why: 'feedback', from: 'evidence', text: 'there is no pull request yet: no login' },
      },
      returns: { evidence: 0 },
    });
    expect(step.news).toEqual([]);
  });

  it('is its author’s, if something else is missing or nothing is known', () => {
    const other: Partial<NewTask> = { requires: [{ kind: 'pr' }, { kind: 'file', path: 'x' }] };
    expect(gathered({}, { pr: null, prProblem: 'no login' }, other).effects).toEqual([]);
    expect(gathered({}, { pr: null }, task).effects).toEqual([]);
  });
});

describe('work without evidence', () => {
  it('goes back once, for the first reason', () => {
    const first = { by: 'verify', text: 'red' } as const;
    const { work } = withoutEvidence({ ...newWork(), sentBack: first }, ['a', 'b'], contextOf(), 'no-evidence');
    expect(work).toMatchObject({
      sentBack: first,
      feedback: ['a\nb'],
      author: { prompt: { from: 'evidence', text: 'a\nb' } },
    });
    const own = withoutEvidence(newWork(), ['a'], contextOf(), 'no-evidence').work;
    expect(own.sentBack).toEqual({ by: 'evidence', text: 'a' });
  });
});
