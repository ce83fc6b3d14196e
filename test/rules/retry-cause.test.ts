import { describe, expect, it } from 'vitest';
import { newWork, stepWork } from '../../src/rules/work.ts';
import type { WorkContext } from '../../src/rules/work-step.ts';
import { DEFAULT_PLAN_LIMITS } from '../../src/model/plan/board.ts';
import type { TaskEnded } from '../../src/model/plan/event.ts';
import type { SentBack, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { failed, rejects } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED } from './support.ts';

const TASK = newTask('t', REVIEWED);
const CHECK_SAYS = '`npm test` exited with 1';

function after(events: readonly WorkEvent[], rounds = 3): { work: Work; news: TaskEnded[] } {
  const context: WorkContext = {
    ...{ task: TASK, limits: { ...DEFAULT_PLAN_LIMITS, rounds, retries: 0 }, verifies: true, now: 1_000, seq: 1 },
    ...{ head: 'base', isOpen: () => true, threadOf: () => null, membersOf: () => [], judges: [], isFree: () => true },
  };
  const news: TaskEnded[] = [];
  const work = events.reduce((before, event) => {
    const step = stepWork(before, event, context);
    news.push(...step.news);
    return step.work;
  }, newWork());
  return { work, news };
}

const started = (attempt: string, agent = 'bob', review: string | null = null): WorkEvent => ({
  ...{ type: 'attempt-started', attempt, agent, account: agent, session: `s-${agent}`, review },
});
const settled = (attempt: string, more: object = {}): WorkEvent => ({
  ...{ type: 'attempt-settled', attempt, outcome: 'completed', text: 'done', ...more },
});
const yes = { output: { approved: true, summary: 'ok', findings: [] } };
const built = (commit: string): WorkEvent[] => [
  ...[started(commit), settled(commit), { type: 'evidence-gathered' as const, facts: { ...FACTS, commit } }],
];
const judged = (commit: string, verdict: object): WorkEvent[] => [
  ...[...built(commit), started(`${commit}-r`, 'rex', 'reviewer'), settled(`${commit}-r`, verdict)],
];
const queued = (commit: string): WorkEvent[] => [...judged(commit, yes), { type: 'integration-started' }];
const checked = (commit: string, passed: boolean): WorkEvent[] => [
  ...queued(commit),
  { type: 'integrated', candidate: `merged-${commit}` },
  { type: 'verified', candidate: `merged-${commit}`, passed, output: `${CHECK_SAYS}\nmore` },
];
const delivered: WorkEvent[] = [...checked('c1', true), { type: 'branch-advanced', commit: 'merged-c1' }];
const reopened: WorkEvent = { type: 'reopened', feedback: 'the test of t fails', session: 'same' };
const conflict: WorkEvent = { type: 'conflict', files: ['a.ts'], head: 'h' };
const broken = (attempt: string): WorkEvent[] => [
  ...[started(attempt), settled(attempt, { outcome: 'failed', ...failed('model-refused') })],
];

type Cause = SentBack['by'] | 'nothing';
const SENT: Readonly<Record<Cause, { readonly events: readonly WorkEvent[]; readonly says: string }>> = {
  verify: { events: checked('c1', false), says: CHECK_SAYS },
  playbook: { events: [...delivered, reopened], says: 'the test of t fails' },
  review: { events: judged('c1', rejects('no test')), says: 'no test' },
  conflict: { events: [...queued('c1'), conflict], says: 'conflicts with h' },
  evidence: {
    events: [started('a'), settled('a'), { type: 'evidence-gathered', facts: { ...FACTS, changedPaths: [] } }],
    says: 'no file was changed',
  },
  nothing: { events: [], says: 'never said' },
};
const RETRIES = {
  plain: { type: 'retry-asked', fresh: false, note: null },
  fresh: { type: 'retry-asked', fresh: true, note: null },
  note: { type: 'retry-asked', fresh: false, note: 'use Go' },
  revived: { type: 'retry-asked', fresh: false, note: null, revived: true },
} as const;
/** What has not come right by a person's word alone. */
const STAYS: readonly Cause[] = ['verify', 'playbook'];

const cases = Object.keys(SENT).flatMap((by) =>
  Object.keys(RETRIES).map((retry) => [by, retry] as [Cause, keyof typeof RETRIES]),
);

describe('what a retry by a person leaves of the first cause', () => {
  it.each(cases)('sent back by %s, tried again: %s', (by, retry) => {
    const { events, says } = SENT[by];
    const { work, news } = after([...events, RETRIES[retry], ...broken('last')]);
    const stays = STAYS.includes(by);
    expect(work.sentBack).toEqual(stays ? { by, text: expect.stringContaining(says) as string } : null);
    const why = news.at(-1)?.type === 'task-failed' ? news.at(-1) : undefined;
    expect(why).toMatchObject({ why: expect.stringContaining('model-refused') as string });
    expect(JSON.stringify(why).includes(`${says}\\nafter that: `)).toBe(stays);
  });

  it.each([undefined, false] as const)('a task that a playbook opens again, with isFault: %s', (isFault) => {
    const done = [...checked('c1', true), { type: 'branch-advanced', commit: 'merged-c1' } as const];
    const again = { type: 'reopened', feedback: 'say bye too', session: 'same', isFault } as const;
    const { news } = after([...done, again, ...broken('last')]);
    const last = news.at(-1);
    const why = last !== undefined && 'why' in last ? last.why : '';
    expect(why).toContain('model-refused');
    expect(why.includes('say bye too')).toBe(isFault === undefined);
  });

  it.each(Object.keys(RETRIES) as (keyof typeof RETRIES)[])('a check that was the end of the task, %s', (retry) => {
    const { news } = after([...checked('c1', false), RETRIES[retry], ...broken('last')], 1);
    expect(news.map((one) => (one.type === 'task-failed' ? one.cause : one.type))).toEqual(['verify', 'attempts']);
    expect(news[1]).toMatchObject({ why: expect.stringMatching(/^`npm test` exited with 1\nafter that: /) as string });
  });

  it.each(STAYS)('nothing once what it was sent back for by %s has come right', (by) => {
    const right = [...checked('c2', true), { type: 'branch-advanced', commit: 'merged-c2' } as const];
    const taken = { type: 'override-asked', as: 'failed', by: 'ada', why: 'no' } as const;
    const { work, news } = after([...SENT[by].events, ...right, taken, RETRIES.plain, ...broken('last')]);
    expect(work.sentBack).toBeNull();
    expect(news.at(-1)).toMatchObject({ why: expect.not.stringContaining('after that') as string });
  });

  it('a conflict after a check that has passed is not told as if the check had failed', () => {
    const foreign: WorkEvent = { type: 'branch-foreign', head: 'theirs' };
    const passed = [...checked('c1', false), ...checked('c2', true), foreign, { type: 'integration-started' } as const];
    expect(after([...passed, conflict]).work.sentBack).toMatchObject({ by: 'conflict' });
  });
});
