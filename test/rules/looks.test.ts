import { describe, expect, it } from 'vitest';
import { blindApprovals, blindText, lookProblem } from '../../src/rules/looks.ts';
import { checkersText, checkerWordsOf } from '../../src/rules/checkers.ts';
import { decideReview, reviewProblem } from '../../src/rules/review.ts';
import { checkerText, type CheckerChange } from '../../src/model/plan/checker.ts';
import { isApproval, lookOf, type Look } from '../../src/model/plan/look.ts';
import type { Json } from '../../src/text/json.ts';
import { newWork } from '../../src/rules/work.ts';
import type { TaskState } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { boardWith, stateOf } from './support.ts';
import { finding } from '../support/findings.ts';

const answer = { approved: true, summary: 'ok', findings: [], checks: [], settled: [] };
const policy = { by: ['r'], quorum: 'all', rounds: 4, criteria: [] } as const;

describe('a look', () => {
  it.each<[Look | undefined, Look | undefined, Look | undefined]>([
    [undefined, undefined, undefined],
    [undefined, 'none', 'none'],
    ['none', undefined, 'none'],
    ['none', 'none', 'none'],
    ['none', 'some', 'some'],
    ['some', 'none', 'some'],
    ['unknown', 'some', 'some'],
    ['unknown', 'none', 'unknown'],
    ['none', 'unknown', 'unknown'],
    ['some', 'unknown', 'some'],
  ])('after %s and then %s is %s', (before, turn, both) => {
    expect(lookOf(before, turn)).toBe(both);
  });

  it.each<[Json | undefined, boolean]>([
    [undefined, false],
    [null, false],
    [{ approved: true }, true],
    [{ approved: false }, false],
    [{ approved: 'true' }, false],
    [{ verdicts: [] }, false],
    [{ verdicts: [{ met: false }, { met: true }] }, true],
    [{ verdicts: [{ met: false }] }, false],
    [{ passed: true }, false],
  ])('is asked of %j: %s', (output, expected) => {
    expect(isApproval(output)).toBe(expected);
  });

  it.each<[Look | undefined, string, object]>([
    [undefined, 'r (rex): approved. ok', {}],
    ['some', 'r (rex): approved. ok', {}],
    ['none', 'r (rex): approved without looking. ok', { look: 'none' }],
    ['unknown', 'r (rex): approved (not known whether it looked). ok', { look: 'unknown' }],
  ])('that is %s is in the record of a round', (look, feedback, more) => {
    const decision = decideReview(policy as never, [{ role: 'r', agent: 'rex', state: 'answered', answer, look }], []);
    expect(decision).toMatchObject({
      ...{ do: 'approve', feedback },
      by: [{ role: 'r', agent: 'rex', approved: true, ...more }],
    });
    if (look === 'some') expect(JSON.stringify(decision)).not.toContain('look');
  });

  it('is missed only where it counts', () => {
    const ended = { at: 'ended', as: 'done', cause: null, why: '' };
    const round = (look: Look | undefined, approved = true) => ({ by: [{ role: 'r', agent: 'rex', approved, look }] });
    const state = (id: string, work: object, workspace: unknown = 'own') => {
      const nothing = { phase: ended, rounds: [], author: { look: 'none', thread: { agent: 'ann' } }, output: null };
      return [id, { task: { id, role: 'x', workspace }, work: { ...nothing, override: null, ...work } }] as const;
    };
    const said = (...states: ReturnType<typeof state>[]) => blindText({ tasks: new Map(states) } as never);
    const judged = { output: { approved: true } };
    expect(said()).toBeUndefined();
    expect(said(state('a', { rounds: [round('none')] }))).toBe('approved without looking: a by rex');
    expect(said(state('a', { rounds: [round('none'), round(undefined)] }))).toBeUndefined();
    expect(said(state('a', { rounds: [round('none', false)] }))).toBeUndefined();
    expect(said(state('a', { rounds: [round('unknown')] }))).toBeUndefined();
    expect(said(state('j', judged, { read: 'run' }))).toBe('approved without looking: j by ann');
    expect(said(state('j', { output: { approved: false } }, { read: 'run' }))).toBeUndefined();
    expect(said(state('b', judged))).toBeUndefined();
    expect(said(state('j', { ...judged, override: { as: 'done' } }, { read: 'run' }))).toBeUndefined();
  });
});

describe('a change of what checks the work', () => {
  const change = (more: Partial<CheckerChange> = {}): CheckerChange => {
    return { path: 'test.sh', status: 'modified', removed: 12, added: 1, ...more };
  };

  it.each<[Partial<CheckerChange>, string]>([
    [{}, 'test.sh (−12 +1)'],
    [{ removed: 0 }, 'test.sh (+1)'],
    [{ added: 0 }, 'test.sh (−12)'],
    [{ added: 0, removed: 0 }, 'test.sh (its mode)'],
    [{ added: null, removed: null }, 'test.sh (binary)'],
    [{ status: 'deleted', added: 0 }, 'test.sh (deleted)'],
    [{ status: 'renamed', to: 'old.sh', added: 0, removed: 0 }, 'test.sh (renamed to old.sh)'],
    [{ status: 'renamed', to: 'old.sh' }, 'test.sh (renamed to old.sh, −12 +1)'],
    [{ status: 'added', removed: 0, added: 5 }, 'test.sh (new, +5)'],
    [{ path: 'package.json', part: 'script test', removed: 1 }, 'package.json (script test, −1 +1)'],
    [{ accepted: ['rex', 'ann'] }, 'test.sh (−12 +1, accepted by rex, ann)'],
  ])('%o is told', (more, text) => {
    expect(checkerText(change(more))).toBe(text);
  });

  it('names the first ones', () => {
    const many = ['a', 'b', 'c', 'd', 'e'].map((path) => change({ path }));
    const text = 'the work changed what checks it: a (−12 +1), b (−12 +1), c (−12 +1) and 2 more';
    expect([checkersText([]), checkersText(many)]).toEqual([undefined, text]);
  });

  const guarded = change({ protected: true });
  const word = (path: string, accepted = true) => ({ path, accepted, why: 'it checks the same' });
  it.each([
    ['no change', [], [], true, undefined],
    ['one that no path protects', [change()], [], true, undefined],
    ['a protected one without a word', [guarded], [], true, 'says nothing of test.sh'],
    ['a word on another path', [guarded], [word('x')], true, 'says nothing of test.sh'],
    ['a word', [guarded], [word('test.sh')], true, undefined],
    [
      'a word that does not accept it',
      [guarded],
      [word('test.sh', false)],
      true,
      'do not accept the change of test.sh',
    ],
    ['such a word on any check', [change()], [word('test.sh', false)], true, 'do not accept the change of test.sh'],
    ['a rejection needs none', [guarded], [], false, undefined],
  ] as const)('is approved with %s', (_, changes, checks, approved, problem) => {
    const found = reviewProblem(
      { ...answer, approved, checks: [...checks], findings: approved ? [] : [finding('x')] },
      { earlier: [], checkers: changes, criteria: 1 },
    );
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it('the last word of each reviewer counts', () => {
    const words = [
      { ...word('a', false), by: 'rex', commit: '1' },
      { ...word('a'), by: 'rex', commit: '2' },
      { ...word('a'), by: 'ann', commit: '1' },
    ];
    const tasks = new Map([['one', { work: { words } }]]) as never;
    expect(checkerWordsOf({ tasks }).map(({ by, commit }) => by + commit)).toEqual(['rex2', 'ann1']);
  });
});

describe('approvals without a look', () => {
  const END = { at: 'ended', as: 'done', cause: null, why: '' } as const;
  const judged = (id: string, work: Partial<Work> = {}, task: Partial<NewTask> = {}): TaskState =>
    stateOf(
      id,
      { workspace: { read: 'run' }, ...task },
      { phase: END, output: { approved: true }, author: looked('none'), ...work },
    );
  const looked = (look: Look, agent: string | null = 'ann') => ({
    ...{ ...newWork().author, look, thread: agent === null ? null : { key: 'k', agent } },
  });
  const round = (...by: [string, boolean, Exclude<Look, 'some'>?][]): RoundRecord => ({
    ...{ round: 1, commit: 'c', approved: true, feedback: '', findings: [] },
    by: by.map(([agent, approved, look]) => ({ role: 'r', agent, approved, ...(look === undefined ? {} : { look }) })),
  });
  const reviewed = (id: string, ...by: Parameters<typeof round>): TaskState =>
    stateOf(id, {}, { rounds: [round(...by)] });

  it.each<[string, TaskState[], string[]]>([
    ['none', [stateOf('a')], []],
    ['those of reviewers', [reviewed('a', ['rex', true, 'none'], ['ann', true], ['mia', false, 'none'])], ['a by rex']],
    ['each once', [reviewed('a', ['rex', true, 'none'], ['rex', true, 'none'])], ['a by rex']],
    [
      'of each task',
      [reviewed('a', ['rex', true, 'none']), reviewed('b', ['rex', true, 'none'])],
      ['a by rex', 'b by rex'],
    ],
    ['of each reviewer', [reviewed('a', ['rex', true, 'none'], ['ann', true, 'none'])], ['a by rex', 'a by ann']],
    ['those of judges', [judged('j')], ['j by ann']],
    ['by role where no agent is known', [judged('j', { author: looked('none', null) })], ['j by builder']],
    ['not before its end', [judged('j', { phase: { at: 'working' } })], []],
    ['not where it failed', [judged('j', { phase: { ...END, as: 'failed', cause: 'attempts' } })], []],
    ['not where it looked', [judged('j', { author: looked('some') })], []],
    ['not without an answer', [judged('j', { output: null })], []],
    ['not where a person said so', [judged('j', { override: { as: 'done', by: 'ada', why: '' } })], []],
    ['not of work', [judged('j', {}, { workspace: 'own' })], []],
  ])('are %s', (_, states, expected) => {
    const found = blindApprovals(boardWith(states), 'none');
    expect(found.map(({ task, by }) => `${task} by ${by}`)).toEqual(expected);
    const text = expected.length === 0 ? undefined : `approved without looking: ${expected.join(', ')}`;
    expect(blindText(boardWith(states))).toBe(text);
  });

  it.each<[Json, Look, 'required' | undefined, boolean]>([
    [{ approved: true }, 'none', 'required', true],
    [{ approved: true }, 'none', undefined, false],
    [{ approved: true }, 'unknown', 'required', false],
    [{ approved: false }, 'none', 'required', false],
  ])('%j after %s goes back where a look is %s: %j', (output, look, looks, expected) => {
    expect(lookProblem(output, look, looks === undefined ? {} : { looks }) !== undefined).toBe(expected);
  });
});
