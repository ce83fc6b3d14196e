import { describe, expect, it } from 'vitest';
import { atBaseText, checkerChangesOf, checkersText, checkerWordsOf, checksAtBase } from '../../src/rules/checkers.ts';
import { changesOf, checkNotesOf, flakyText, notesIn, noting } from '../../src/rules/check-notes.ts';
import { afterJudge, judgeTask, leftToJudge, problemsOf, wordOn } from '../../src/rules/gate.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { CheckerChange, CheckerWord } from '../../src/model/plan/checker.ts';
import type { TaskEnded } from '../../src/model/plan/event.ts';
import { CLOSED_GATE, type Gate, type GateFacts, type Verdict } from '../../src/model/plan/gate.ts';
import { boardWith, endedAs, stateOf } from './support.ts';

const CHANGE: CheckerChange = { path: 'test.sh', status: 'modified', added: 1, removed: 12 };
const GUARDED: CheckerChange = { ...CHANGE, path: 'tests/a.js', protected: true };
const LOOSE = { text: 'it is nice' };
const TEXT = 'The change of tests/a.js, a protected path, is right: what it checked is still checked';

function found(more: Partial<GateFacts> = {}): GateFacts {
  return { expected: 'base', head: 'base', missing: [], commands: [], ...more };
}

const verdict = (criterion: number, met: boolean, more: Partial<Verdict> = {}): Verdict => ({
  ...{ criterion, met, evidence: null, why: `says ${String(met)}` },
  ...more,
});

function gateOf(facts: Partial<GateFacts> | null, verdicts: readonly Verdict[] = [], by: string | null = 'rex'): Gate {
  const judgement = { task: 'judge', commit: 'base', by, verdicts };
  return { ...CLOSED_GATE, facts: facts === null ? null : found(facts), judgement };
}

function boardOf(gate: Gate): Board {
  const objective = { title: '', goals: [], criteria: [LOOSE], constraints: [], context: '', text: '' };
  return { ...boardWith([], { objective }), gate };
}

describe('what reviewers said of changed checks', () => {
  const word = (path: string, by: string, why: string): CheckerWord => ({ path, by, accepted: true, why, commit: 'c' });
  it('is the last word of each about each path', () => {
    const states = [
      stateOf('a', {}, { words: [word('x', 'rex', '1'), word('x', 'sue', '2'), word('y', 'rex', '3')] }),
      stateOf('b'),
      stateOf('c', {}, { words: [word('x', 'rex', '4')] }),
    ];
    expect(checkerWordsOf(boardWith(states)).map(({ why }) => why)).toEqual(['2', '3', '4']);
  });
});

describe('what the work changed of its checks', () => {
  it.each<[string, Gate, CheckerChange[]]>([
    ['nothing, if no one looked', gateOf(null), []],
    ['nothing, if that was another commit', gateOf({ head: 'old', checkers: [CHANGE] }), []],
    ['nothing', gateOf({}), []],
    ['what was found', gateOf({ checkers: [CHANGE, GUARDED] }), [CHANGE, GUARDED]],
    [
      'accepted by its judge',
      gateOf({ checkers: [CHANGE, GUARDED] }, [verdict(1, true)]),
      [CHANGE, { ...GUARDED, accepted: ['rex'] }],
    ],
    [
      'accepted by a judge without a name',
      gateOf({ checkers: [GUARDED] }, [verdict(1, true)], null),
      [{ ...GUARDED, accepted: ['its judge'] }],
    ],
    ['not accepted by its judge', gateOf({ checkers: [GUARDED] }, [verdict(1, false)]), [GUARDED]],
    [
      'a verdict on a criterion, which says nothing of it',
      gateOf({ checkers: [CHANGE] }, [verdict(0, true)]),
      [CHANGE],
    ],
  ])('%s', (_name, gate, expected) => expect(checkerChangesOf(boardOf(gate))).toEqual(expected));
});

describe('the checks as they were at the base', () => {
  const ran = (run: string, passed: boolean) => ({ purpose: 'verify', run, passed, output: '' }) as const;
  it('count only at the head of the run branch', () => {
    expect(checksAtBase(boardOf(gateOf({ atBase: [ran('a', true)] })))).toHaveLength(1);
    expect(checksAtBase(boardOf(gateOf({ head: 'old', atBase: [ran('a', true)] })))).toEqual([]);
    expect(checksAtBase(boardOf(gateOf({})))).toEqual([]);
    expect(checksAtBase(boardOf(gateOf(null)))).toEqual([]);
  });

  it.each([
    [[], undefined],
    [[ran('a', true)], 'with the checks as they were at the base, all pass'],
    [[ran('a', true), ran('b', false)], 'with the checks as they were at the base, `b` fails'],
    [[ran('a', false), ran('b', false)], 'with the checks as they were at the base, `a`, `b` fails'],
  ])('are told: %j', (all, expected) => expect(atBaseText(all)).toBe(expected));
});

describe('the word on changed checks', () => {
  const changes = ['a', 'b', 'c', 'd', 'e'].map((path) => ({ ...CHANGE, path }));
  it.each([
    [0, undefined],
    [1, 'the work changed what checks it: a (−12 +1)'],
    [3, 'the work changed what checks it: a (−12 +1), b (−12 +1), c (−12 +1)'],
    [4, 'the work changed what checks it: a (−12 +1), b (−12 +1), c (−12 +1) and 1 more'],
    [5, 'the work changed what checks it: a (−12 +1), b (−12 +1), c (−12 +1) and 2 more'],
  ])('of %d', (count, expected) => expect(checkersText(changes.slice(0, count))).toBe(expected));
});

describe('notes on checks', () => {
  const changed = { paths: ['x'], more: 0 };
  const FLAKY = { run: 'a', passed: true, output: '', flaky: true } as const;
  const CHANGED = { run: 'b', passed: true, output: '', changed };
  const plain = { run: 'c', passed: true, output: '' };

  it('are what was flaky, and what changed files', () => {
    expect(notesIn([FLAKY, CHANGED, plain])).toEqual({ flaky: ['a'], changed: [{ run: 'b', ...changed }] });
    expect(changesOf([plain, FLAKY])).toEqual([]);
  });

  it('come from all tasks and from the end of the run, of each command the first', () => {
    const noted = { flaky: ['a'], changed: [{ run: 'b', ...changed }] };
    const later = {
      flaky: ['a', 'z'],
      changed: [
        { run: 'b', paths: ['y'], more: 1 },
        { run: 'd', ...changed },
      ],
    };
    const board = { ...boardWith([stateOf('t', {}, { noted: later }), stateOf('u')]), gate: { ...CLOSED_GATE, noted } };
    const all = {
      flaky: ['a', 'z'],
      changed: [
        { run: 'b', ...changed },
        { run: 'd', ...changed },
      ],
    };
    expect(checkNotesOf(board)).toEqual(all);
    expect(checkNotesOf(boardWith([]))).toEqual({ flaky: [], changed: [] });
  });

  it.each([
    [{ flaky: [], changed: [] }, false],
    [{ flaky: ['a'], changed: [] }, true],
    [{ flaky: [], changed: [{ run: 'b', ...changed }] }, true],
  ])('%j are kept only if there are any', (more, expected) => {
    expect('noted' in noting({}, more)).toBe(expected);
    expect(noting({ noted: { flaky: ['z'], changed: [] } }, more).noted.flaky).toEqual(['z', ...more.flaky]);
  });

  it('are told', () => {
    expect(flakyText({ flaky: [], changed: [] })).toBeUndefined();
    expect(flakyText({ flaky: ['a', 'b'], changed: [] })).toBe(
      'flaky (failed and passed on the same commit): `a`, `b`',
    );
  });
});

describe('why a run may not end yet', () => {
  const command = { purpose: 'verify', run: 'a', passed: false, output: 'red' } as const;
  it.each<[string, Partial<GateFacts>, readonly Verdict[], string | null, string[]]>([
    ['nothing', {}, [], 'rex', []],
    ['a check that fails', { commands: [command, { ...command, passed: true }] }, [], 'rex', ['verify: red']],
    [
      'a command of a criterion that cannot run is none',
      { commands: [{ ...command, purpose: 'criterion', cannotRun: 'x' }] },
      [],
      'rex',
      [],
    ],
    ['a criterion', {}, [verdict(0, false)], 'rex', ['criterion “it is nice” is not met, says rex: says false']],
    [
      'the word of no one',
      {},
      [verdict(0, false)],
      null,
      ['criterion “it is nice” is not met, says its judge: says false'],
    ],
    ['a protected path', { checkers: [GUARDED] }, [verdict(1, false)], 'rex', [`${TEXT}: no, says rex: says false`]],
    [
      'a protected path, of no one',
      { checkers: [GUARDED] },
      [verdict(1, false)],
      null,
      [`${TEXT}: no, says its judge: says false`],
    ],
    ['a protected path that is right is none', { checkers: [GUARDED] }, [verdict(1, true)], 'rex', []],
  ])('%s', (_name, facts, verdicts, by, expected) => {
    expect(problemsOf(found(facts), gateOf(facts, verdicts, by), [LOOSE])).toEqual(expected);
  });

  it('takes one “no” on a protected path for more than any “yes”', () => {
    const said = (...verdicts: Verdict[]) => wordOn(1, { head: 'base' }, gateOf({}, verdicts))?.verdict.why;
    expect(said(verdict(0, false), verdict(1, true, { why: 'first' }), verdict(1, true))).toBe('first');
    expect(said(verdict(1, true), verdict(1, false, { why: 'no' }))).toBe('no');
    expect(said(verdict(0, true))).toBeUndefined();
    expect(wordOn(1, { head: 'other' }, gateOf({}, [verdict(1, true)]))).toBeUndefined();
  });
});

describe('what is left to a judge', () => {
  const accepted = { ...GUARDED, accepted: ['rex'] };
  it.each<[string, CheckerChange[], number[]]>([
    ['the criteria without a command', [CHANGE], [0]],
    ['protected paths that no one has spoken of, by the next numbers', [accepted, GUARDED], [0, 2]],
    ['no protected path that a reviewer accepted', [accepted], [0]],
  ])('%s', (_name, checkers, expected) => {
    expect(leftToJudge(found({ checkers }), CLOSED_GATE, [LOOSE])).toEqual(expected);
  });

  it('is nothing once a judge has spoken on this commit', () => {
    expect(leftToJudge(found(), gateOf({}), [LOOSE])).toEqual([]);
    expect(leftToJudge(found({ head: 'new' }), gateOf({}), [LOOSE])).toEqual([0]);
  });

  it('is a task that lists each by its number', () => {
    const judge = { name: 'rex', role: 'reviewer' };
    const { brief, title } = judgeTask('judge', judge, [LOOSE], [0, 1, 5], { changes: ['the change of x'] });
    expect(brief.text).toContain('\n\nC1: it is nice\nC2: the change of x\nC6:\n\n');
    expect(brief.text).toMatch(/judge them:\n\n[^]*build and run what you need\. [^]*Answer with `verdicts`/);
    expect(title).toBe('Judge the criteria that have no command');
    expect(judgeTask('judge', judge, [], [0]).brief.text).toContain('\n\nC1:\n\n');
  });
});

describe('the answer of a judge', () => {
  const thread = { key: 's', agent: 'rex' };
  const { author } = stateOf('judge').work;
  const state = stateOf('judge', { owner: 'engine' }, { ...endedAs('done'), author: { ...author, thread } });
  const gate: Gate = { ...CLOSED_GATE, at: 'judging', judge: 'judge', facts: found() };
  const output = { verdicts: [{ ...verdict(0, true), criterion: 'C1' }] };
  const done: TaskEnded = { type: 'task-done', task: 'judge', followUps: [], output };
  const failed: TaskEnded = { type: 'task-failed', task: 'judge', cause: 'attempts', why: '', feedback: [] };
  it.each<[string, Parameters<typeof afterJudge>, Partial<Gate>]>([
    [
      'counts for the commit that was looked at',
      [gate, state, [done], new Set()],
      {
        at: 'checking',
        judge: null,
        judgement: { task: 'judge', commit: 'base', by: 'rex', verdicts: [verdict(0, true)] },
      },
    ],
    [
      'counts for nothing, of an author',
      [gate, state, [done], new Set(['rex'])],
      { judgement: { task: 'judge', commit: 'base', by: 'rex', verdicts: [] } },
    ],
    [
      'counts for nothing, of no one',
      [gate, stateOf('judge'), [done], new Set()],
      { judgement: { task: 'judge', commit: 'base', by: null, verdicts: [] } },
    ],
    [
      'counts for nothing, without one',
      [gate, state, [failed], new Set()],
      { judge: null, judgement: { task: 'judge', commit: 'base', by: 'rex', verdicts: [] } },
    ],
    [
      'counts for nothing, of another form',
      [gate, state, [{ ...done, output: 7 }], new Set()],
      { judgement: { task: 'judge', commit: 'base', by: 'rex', verdicts: [] } },
    ],
    ['is waited for', [gate, state, [], new Set()], gate],
    [
      'of another task is none',
      [{ ...gate, judge: 'other' }, state, [done], new Set()],
      { judge: 'other', judgement: null },
    ],
    [
      'on nothing that was looked at is none',
      [{ ...gate, facts: null }, state, [done], new Set()],
      { judge: 'judge', judgement: null },
    ],
  ])('%s', (_name, given, expected) => expect(afterJudge(...given)).toMatchObject(expected));
});
