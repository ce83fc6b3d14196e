import { describe, expect, it } from 'vitest';
import { newWork, stepWork } from '../../src/rules/work.ts';
import type { WorkContext } from '../../src/rules/work-step.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Phase, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { contextOf } from './support.ts';

const AT = { commit: 'c1', since: 3 };
const QUEUED: Phase = { at: 'in-queue', ...AT };
const INTEGRATING: Phase = { at: 'integrating', ...AT };
const VERIFYING: Phase = { at: 'verifying', ...AT, candidate: 'm1' };
const ADVANCING: Phase = { at: 'advancing', ...AT, candidate: 'm1' };
const WORKING: Phase = { at: 'working' };
const STARTED: WorkEvent = { type: 'integration-started' };
const MERGED: WorkEvent = { type: 'integrated', candidate: 'm1' };
const CONFLICT: WorkEvent = { type: 'conflict', head: 'h1', files: ['a', 'b'] };
const PASSED: WorkEvent = { type: 'verified', candidate: 'm1', passed: true, output: '' };
const FAILED: WorkEvent = { ...PASSED, passed: false, output: 'red\n', command: 'npm test' };
const FOREIGN: WorkEvent = { type: 'branch-foreign', head: 'x' };
const MOVED: WorkEvent = { type: 'branch-advanced', commit: 'm1' };

function step(work: Partial<Work>, event: WorkEvent, task: Partial<NewTask> = {}, more: Partial<WorkContext> = {}) {
  return stepWork({ ...newWork(), commit: 'c1', ...work }, event, contextOf(task, more));
}

describe('the way of a commit onto the run branch', () => {
  it.each<[string, Phase, WorkEvent, Phase]>([
    ['evidence that holds the queue', { at: 'gathering' }, STARTED, { at: 'gathering', holdsQueue: true }],
    ['its turn', QUEUED, STARTED, INTEGRATING],
    ['a late start', WORKING, STARTED, WORKING],
    ['a merge', INTEGRATING, MERGED, VERIFYING],
    ['a late merge', QUEUED, MERGED, QUEUED],
    ['a check that passes', VERIFYING, PASSED, ADVANCING],
    ['a check of another candidate', VERIFYING, { ...PASSED, candidate: 'm2' }, VERIFYING],
    ['a late check', QUEUED, PASSED, QUEUED],
    ['a late move', QUEUED, MOVED, QUEUED],
    ['a late conflict', QUEUED, CONFLICT, QUEUED],
    ['branch-foreign before the merge', INTEGRATING, FOREIGN, QUEUED],
    ['branch-foreign before the move', ADVANCING, FOREIGN, QUEUED],
    ['branch-foreign, late', VERIFYING, FOREIGN, VERIFYING],
  ])('%s', (_name, phase, event, expected) => {
    expect(step({ phase }, event).work.phase).toEqual(expected);
    expect(step({ phase }, event).news).toEqual([]);
  });

  it('needs no check where the run has none', () => {
    expect(step({ phase: INTEGRATING }, MERGED, {}, { verifies: false }).work.phase).toEqual(ADVANCING);
  });

  it('ends with the move of the branch', () => {
    const { work, news } = step({ phase: ADVANCING }, { type: 'branch-advanced', commit: 'm2' });
    expect(work).toMatchObject({ delivered: 'm2', phase: { at: 'ended', as: 'done', why: 'delivered' } });
    expect(news).toEqual([{ type: 'task-done', task: 't', commit: 'c1', followUps: [] }]);
  });
});

describe('a conflict', () => {
  const text = 'Your commit c1 conflicts with h1 in:\n- a\n- b';
  it('goes back to the author, who needs another commit', () => {
    expect(step({ phase: INTEGRATING }, CONFLICT).work).toMatchObject({
      phase: WORKING,
      author: { prompt: { why: 'feedback', from: 'conflict', text } },
      returned: 'c1',
      returns: { evidence: 0, conflict: 1, verify: 0 },
      sentBack: { by: 'conflict', text },
      feedback: [text],
    });
  });

  it.each<[number, string]>([
    [2, 'working'],
    [3, 'ended'],
  ])('after %d others: %s', (conflict, at) => {
    const returns = { evidence: 0, conflict, verify: 9 };
    expect(step({ phase: INTEGRATING, returns }, CONFLICT).work.phase.at).toBe(at);
  });

  it('fails what has no author', () => {
    const { work, news } = step({ phase: INTEGRATING }, CONFLICT, { kind: 'integrate' });
    expect(news).toMatchObject([{ type: 'task-failed', cause: 'conflict', why: text, feedback: [text] }]);
    expect(work.sentBack).toBeNull();
  });
});

describe('a check that fails', () => {
  const where = 'This ran on m1, which has your work and what was delivered before.';
  it('goes back to the author', () => {
    const { work } = step({ phase: VERIFYING }, FAILED);
    expect(work).toMatchObject({
      phase: WORKING,
      checked: { candidate: 'm1', command: 'npm test', failures: 1 },
      returns: { verify: 1, conflict: 0 },
      sentBack: { by: 'verify', text: `red\n${where}` },
      feedback: [`red\n${where}`],
    });
    const nameless = step({ phase: VERIFYING }, { ...PASSED, passed: false });
    expect(nameless.work.checked?.command).toBe('');
  });

  it('again on the same candidate, without a change since, is for want of evidence', () => {
    const checked = { candidate: 'm1', command: 'npm test', failures: 1 };
    const { work } = step({ phase: VERIFYING, checked, returned: 'c1' }, FAILED);
    expect(work).toMatchObject({
      phase: WORKING,
      checked: { failures: 2 },
      returns: { evidence: 1, verify: 0 },
      feedback: ['nothing was changed since c1 was sent back, and the check has failed again:\nred'],
    });
    expect(step({ phase: VERIFYING, checked }, FAILED).work.returns).toMatchObject({ verify: 1, evidence: 0 });
    const other = { ...checked, candidate: 'm0' };
    expect(step({ phase: VERIFYING, checked: other, returned: 'c1' }, FAILED).work.returns).toMatchObject({
      verify: 1,
    });
    const spent = { evidence: 1, conflict: 0, verify: 0 };
    expect(step({ phase: VERIFYING, checked, returned: 'c1', returns: spent }, FAILED).work.phase).toMatchObject({
      cause: 'no-evidence',
    });
  });

  it('for the last time fails the task, and stays its first cause', () => {
    const returns = { evidence: 0, conflict: 0, verify: 3 };
    const { work, news } = step({ phase: VERIFYING, returns }, FAILED);
    expect(news).toMatchObject([{ cause: 'verify', why: `red\n${where}`, feedback: [`red\n${where}`] }]);
    expect(work.sentBack).toEqual({ by: 'verify', text: `red\n${where}` });
  });

  it('and then passes on the same candidate is flaky', () => {
    const checked = { candidate: 'm1', command: 'npm test', failures: 1 };
    expect(step({ phase: VERIFYING, checked }, PASSED).work.noted).toEqual({ flaky: ['npm test'], changed: [] });
    expect(step({ phase: VERIFYING, checked: { ...checked, candidate: 'm0' } }, PASSED).work.noted).toBeUndefined();
    expect(step({ phase: VERIFYING, checked }, FAILED).work.noted).toBeUndefined();
    expect(step({ phase: VERIFYING }, PASSED).work.noted).toBeUndefined();
  });

  it('may have changed files', () => {
    const changed = [{ run: 'a', paths: ['x'], more: 0 }];
    expect(step({ phase: VERIFYING }, { ...PASSED, changed }).work.noted).toEqual({ flaky: [], changed });
  });
});

describe('a check that passes', () => {
  it.each([
    ['verify', null],
    ['conflict', null],
    ['review', { by: 'review', text: 'x' }],
    ['playbook', { by: 'playbook', text: 'x' }],
  ] as const)('answers what work was sent back for by %s', (by, expected) => {
    expect(step({ phase: VERIFYING, sentBack: { by, text: 'x' } }, PASSED).work.sentBack).toEqual(expected);
  });
});
