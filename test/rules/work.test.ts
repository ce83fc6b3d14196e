import { describe, expect, it } from 'vitest';
import { newWork, stepWork } from '../../src/rules/work.ts';
import type { WorkContext, WorkStep } from '../../src/rules/work-step.ts';
import { DEFAULT_PLAN_LIMITS } from '../../src/model/plan/board.ts';
import type { WorkEffect } from '../../src/model/plan/effect.ts';
import type { TaskEnded } from '../../src/model/plan/event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Work, WorkEvent } from '../../src/model/plan/work.ts';
import { defined } from '../../src/text/defined.ts';
import { failed, rejects } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED } from './support.ts';
import { ALL_FIXED } from '../support/findings.ts';

interface Story {
  readonly work: Work;
  /** After each event. */
  readonly phases: readonly string[];
  readonly effects: readonly WorkEffect[];
  readonly news: readonly TaskEnded[];
}

function tell(task: NewTask, events: readonly WorkEvent[]): Story {
  const context: WorkContext = {
    task,
    limits: DEFAULT_PLAN_LIMITS,
    verifies: true,
    now: 1_000,
    seq: 1,
    head: 'base',
    isOpen: () => true,
    threadOf: () => null,
    membersOf: () => [],
    judges: [],
    isFree: () => true,
  };
  return events.reduce<Story>(
    (story, event) => {
      const step: WorkStep = stepWork(story.work, event, context);
      return {
        work: step.work,
        phases: [...story.phases, step.work.phase.at],
        effects: [...story.effects, ...step.effects],
        news: [...story.news, ...step.news],
      };
    },
    { work: newWork(), phases: [], effects: [], news: [] },
  );
}

function started(attempt: string, agent = 'bob', review: string | null = null): WorkEvent {
  return { type: 'attempt-started', attempt, agent, account: agent, session: `s-${agent}`, review };
}

function settled(attempt: string, more: object = {}): WorkEvent {
  return { type: 'attempt-settled', attempt, outcome: 'completed', text: 'done', ...more };
}

const seen = (commit: string): WorkEvent => ({ type: 'evidence-gathered', facts: { ...FACTS, commit } });
const yes = { output: { approved: true, summary: 'ok', findings: [], settled: ALL_FIXED } };
const built = [started('t-1'), settled('t-1'), seen('c1')];
const TASK = newTask('t', REVIEWED);

describe('the work machine', () => {
  it('goes through evidence, review, integration and verification to its one end', () => {
    const { work, phases, news } = tell(TASK, [
      ...built,
      started('t-2', 'rex', 'reviewer'),
      settled('t-2', yes),
      { type: 'integration-started' },
      { type: 'integrated', candidate: 'm1' },
      { type: 'verified', candidate: 'm1', passed: true, output: '' },
      { type: 'branch-advanced', commit: 'm1' },
    ]);
    expect(phases).toEqual([
      ...['working', 'gathering', 'reviewing', 'reviewing', 'in-queue'],
      ...['integrating', 'verifying', 'advancing', 'ended'],
    ]);
    expect(work.rounds).toMatchObject([{ commit: 'c1', approved: true }]);
    expect(news).toMatchObject([{ type: 'task-done', commit: 'c1' }]);
    expect(work.phase).toMatchObject({ at: 'ended', as: 'done' });
  });

  it('keeps its place in the queue when somebody else moved the branch', () => {
    const events: WorkEvent[] = [...built, started('t-2', 'rex', 'reviewer'), settled('t-2', yes)];
    const again: WorkEvent[] = [{ type: 'integration-started' }, { type: 'integrated', candidate: 'm1' }];
    const verified: WorkEvent = { type: 'verified', candidate: 'm1', passed: true, output: '' };
    const { work } = tell(TASK, [...events, ...again, verified, { type: 'branch-foreign', head: 'theirs' }]);
    expect(work.phase).toEqual({ at: 'in-queue', commit: 'c1', since: 1 });
  });

  it('lets no author review', () => {
    const { work } = tell(TASK, [...built, started('t-2', 'bob', 'reviewer'), settled('t-2', yes)]);
    expect(work).toMatchObject({ phase: { at: 'reviewing' }, attempts: 1, rounds: [] });
  });

  it('stops the other reviewers once one yes is enough', () => {
    const task = newTask('t', { review: { by: ['r', 's'], quorum: 'any', rounds: 2, criteria: [] } });
    const { work } = tell(task, [
      ...built,
      started('t-2', 'rex', 'r'),
      started('t-3', 'sue', 's'),
      settled('t-2', yes),
    ]);
    expect(work).toMatchObject({ phase: { at: 'in-queue' }, leaving: [{ attempt: 't-3' }] });
  });

  it('asks a reviewer once more for an answer of the right form, and takes no silence for a yes', () => {
    const bad = settled('t-2', { output: { approved: false, summary: 'no', findings: [] } });
    const first = tell(TASK, [...built, started('t-2', 'rex', 'reviewer'), bad]);
    expect(first.work.phase).toMatchObject({ slots: [{ request: { prompt: { why: 'repair' } } }] });
    const { news } = tell(TASK, [
      ...built,
      started('t-2', 'rex', 'reviewer'),
      bad,
      started('t-3', 'rex', 'reviewer'),
      settled('t-3'),
    ]);
    expect(news).toMatchObject([
      {
        type: 'task-failed',
        cause: 'attempts',
        why: 'the review of c1: no verdict from reviewer (bad-output: no answer of the form review)',
      },
    ]);
  });

  it('does not take the rejected commit for an answer to the rejection', () => {
    const rejected = [...built, started('t-2', 'rex', 'reviewer'), settled('t-2', rejects('no test'))];
    const again = [started('t-3'), settled('t-3'), seen('c1')];
    const once = tell(TASK, [...rejected, ...again]);
    expect(once.work.author.prompt).toMatchObject({ why: 'feedback', from: 'evidence' });
    const twice = tell(TASK, [...rejected, ...again, started('t-4'), settled('t-4'), seen('c1')]);
    expect(twice.news.at(-1)).toMatchObject({ type: 'task-failed', cause: 'no-evidence', feedback: { length: 2 } });
  });

  describe('that is rejected again', () => {
    const AT_ONCE =
      'rejected in round 2 of 3; not converging: the same findings as in the round before, so the work stops';
    const round = (number: number, finding: string): WorkEvent[] => [
      ...[started(`a-${number}`), settled(`a-${number}`), seen(`c${number}`)],
      ...[started(`r-${number}`, 'rex', 'reviewer'), settled(`r-${number}`, rejects(finding))],
    ];
    const retried: WorkEvent = { type: 'retry-asked', fresh: false, note: null };

    it.each<[string, 'stop' | 'report' | undefined, WorkEvent[], string[]]>([
      [
        'for the same findings, stops at once',
        'stop',
        [...round(1, 'no test:3'), ...round(2, 'No test:7!')],
        [AT_ONCE],
      ],
      ['for others, goes on', 'stop', [...round(1, 'no test'), ...round(2, 'no docs')], []],
      ['goes on without the setting', undefined, [...round(1, 'no test'), ...round(2, 'no test')], []],
      ['goes on with `report`', 'report', [...round(1, 'no test'), ...round(2, 'no test')], []],
      [
        'has the cap of its rounds',
        'stop',
        [...round(1, 'no test'), ...round(2, 'no docs'), ...round(3, 'no name')],
        ['rejected in round 3 of 3'],
      ],
      [
        'after a person tried it again, has a first round',
        'stop',
        [...round(1, 'no test'), ...round(2, 'no test'), retried, ...round(3, 'no test')],
        [AT_ONCE],
      ],
      [
        'after that, stops as before',
        'stop',
        [...round(1, 'no test'), ...round(2, 'no test'), retried, ...round(3, 'no test'), ...round(4, 'no test')],
        [AT_ONCE, AT_ONCE],
      ],
    ])('%s', (_title, whenNotConverging, events, ends) => {
      const review: NewTask['review'] = { by: ['reviewer'], quorum: 'all', rounds: 3, criteria: [] };
      const task = newTask('t', { review: { ...review, ...defined({ whenNotConverging }) } });
      const { news } = tell(task, events);
      expect(news.map((one) => (one.type === 'task-failed' ? one.why : one.type))).toEqual(ends);
    });
  });

  it('burns no round and no retry when an attempt is lost, and remembers what it was about', () => {
    const { work } = tell(TASK, [
      ...built,
      started('t-2', 'rex', 'reviewer'),
      settled('t-2', rejects('no test')),
      started('t-3'),
      settled('t-3', failed('lost')),
    ]);
    expect(work).toMatchObject({
      round: 2,
      author: { used: { retries: 0, infrastructure: 1 }, state: { at: 'waiting' } },
    });
    expect(work.author.prompt).toMatchObject({ why: 'feedback', from: 'review' });
  });

  it('gives one repair for an answer without its form, and then fails', () => {
    const task = newTask('t', { output: { schema: 'plan', repairs: 1 }, integrate: false, requires: [] });
    const first = tell(task, [started('t-1'), settled('t-1')]);
    expect(first.work.author).toMatchObject({ state: { at: 'queued' }, prompt: { why: 'repair' }, session: 'same' });
    const second = tell(task, [started('t-1'), settled('t-1'), started('t-2'), settled('t-2', failed('bad-output'))]);
    expect(second.news).toMatchObject([{ type: 'task-failed', cause: 'bad-output' }]);
    const mended = tell(task, [
      started('t-1'),
      settled('t-1'),
      started('t-2'),
      settled('t-2', { output: { tasks: [] } }),
    ]);
    expect(mended.news).toMatchObject([{ type: 'task-done', output: { tasks: [] } }]);
  });

  it('makes no new attempt of a stall; its fallbacks stop the turn first', () => {
    const stalled: WorkEvent[] = [started('t-1'), { type: 'wall-raised', attempt: 't-1', why: 'no tool' }];
    expect(tell(TASK, stalled)).toMatchObject({
      effects: [],
      work: { author: { state: { at: 'live', stall: 'no tool' } } },
    });
    const cleared = tell(TASK, [...stalled, { type: 'wall-cleared', attempt: 't-1' }]);
    expect(cleared.work.author.state).toMatchObject({ at: 'live', stall: null });
    const fallen = tell(TASK, [...stalled, { type: 'wall-fallback', attempt: 't-1', fallback: 'workspace-reset' }]);
    expect(fallen.work.author.state).toMatchObject({ at: 'live', stop: 'workspace-reset', stall: 'no tool' });
    const fallback: WorkEvent = { type: 'wall-fallback', attempt: 't-1', fallback: 'workspace-reset' };
    const after = tell(TASK, [...stalled, fallback, settled('t-1', { ...failed('cancelled'), outcome: 'cancelled' })]);
    expect(after.work.author).toMatchObject({ session: 'new', used: { retries: 1 }, state: { at: 'waiting' } });
    // What was finished in the meantime is not thrown away.
    expect(tell(TASK, [...stalled, fallback, settled('t-1')]).work.phase.at).toBe('gathering');
  });

  it('ignores what comes too late', () => {
    const { work } = tell(TASK, built);
    const late: WorkEvent[] = [
      settled('t-1'),
      seen('c9'),
      { type: 'integrated', candidate: 'm' },
      { type: 'conflict', files: [], head: 'h' },
      { type: 'verified', candidate: 'm', passed: true, output: '' },
      { type: 'branch-advanced', commit: 'm' },
      { type: 'branch-foreign', head: 'theirs' },
      { type: 'begun' },
      { type: 'unblocked', question: 'q', goOn: true },
      { type: 'reopened', feedback: '', session: 'same' },
    ];
    expect(tell(TASK, [...built, ...late]).work).toEqual(work);
  });

  it('ends a failed check as a failed verification, with what it said', () => {
    const task = newTask('t', { kind: 'check', integrate: false, requires: [{ kind: 'command', run: 'npm test' }] });
    const commands = [{ run: 'npm test', passed: false, output: 'red' }];
    const { news } = tell(task, [{ type: 'begun' }, { type: 'evidence-gathered', facts: { ...FACTS, commands } }]);
    expect(news).toMatchObject([{ type: 'task-failed', cause: 'verify', why: '`npm test` fails:\nred' }]);
  });
});
