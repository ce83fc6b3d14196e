import { describe, expect, it } from 'vitest';
import { decideRun, isCheckedAgain } from '../../src/rules/check-again.ts';
import { checkNotesOf, flakyText, noting } from '../../src/rules/check-notes.ts';
import type { SentBack } from '../../src/model/plan/work.ts';

const sentBack = (by: SentBack['by']): SentBack => ({ by, text: 'it fails' });
const failed = (failures: number) => ({ candidate: 'm1', command: 'npm test', failures });

describe('the number of a run of the checks', () => {
  it.each([
    ['of a new candidate', undefined, 'm1', 1],
    ['of another candidate than the one that failed', failed(1), 'm2', 1],
    ['of the candidate that failed', failed(1), 'm1', 2],
    ['of one that failed twice: its result stays', failed(2), 'm1', 2],
  ])('%s', (_, checked, candidate, run) => {
    expect(decideRun(checked === undefined ? {} : { checked }, candidate)).toBe(run);
  });
});

describe('a check runs once more', () => {
  const unchanged = { commit: 'c1' };
  it.each([
    ['where its author changed nothing', 'verify', 'c1', failed(1), unchanged, true],
    ['not where the author changed something', 'verify', 'c1', failed(1), { commit: 'c2' }, false],
    ['not where the work is undone', 'verify', 'c1', failed(1), { commit: null }, false],
    ['not where nothing was sent back', 'verify', null, failed(1), unchanged, false],
    ['not where a reviewer sent it back', 'review', 'c1', failed(1), unchanged, false],
    ['not a third time', 'verify', 'c1', failed(2), unchanged, false],
    ['not where no check failed', 'conflict', 'c1', undefined, unchanged, false],
    ['not where the folder cannot be read', 'verify', 'c1', failed(1), { commit: 'c1', problem: 'gone' }, false],
  ] as const)('%s', (_, by, returned, checked, facts, again) => {
    const work = { returned, sentBack: sentBack(by), ...(checked === undefined ? {} : { checked }) };
    expect(isCheckedAgain(work, facts)).toBe(again);
  });
});

describe('what checks showed besides their results', () => {
  it('is kept once for each command, also when a later check of the branch shows nothing', () => {
    const lint = { run: 'lint', paths: ['a'], more: 0 };
    const once = noting({}, { flaky: ['test'], changed: [lint] });
    const gate = noting(once, { flaky: ['test', 'e2e'], changed: [{ ...lint, paths: ['b'] }] });
    expect(gate).toEqual({ noted: { flaky: ['test', 'e2e'], changed: [lint] } });
    expect(noting(gate, { flaky: [], changed: [] })).toBe(gate);
    expect(flakyText({ flaky: ['test'], changed: [] })).toBe('flaky (failed and passed on the same commit): `test`');
    expect(flakyText({ flaky: [], changed: [lint] })).toBeUndefined();
  });

  it('comes from the tasks and from the end of the run', () => {
    const work = { noted: { flaky: ['unit'], changed: [] } };
    const board = { tasks: new Map([['a', { work }]]), gate: { noted: { flaky: ['e2e'], changed: [] } } };
    expect(checkNotesOf(board as never)).toEqual({ flaky: ['e2e', 'unit'], changed: [] });
  });
});
