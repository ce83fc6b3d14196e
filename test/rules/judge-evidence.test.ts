import { describe, expect, it } from 'vitest';
import type { Board } from '../../src/model/plan/board.ts';
import { judgementAnswerSchema, verdictsIn, type Verdict } from '../../src/model/plan/gate.ts';
import { evidenceKey, type JudgeEvidence, type LookedUp } from '../../src/model/plan/judge-evidence.ts';
import { newWork } from '../../src/rules/work.ts';
import { evidenceIn, evidenceProblems, evidenceText, unshownBy } from '../../src/rules/judge-evidence.ts';
import { judgedBy, withProblems } from '../../src/rules/plan-step.ts';
import { quoting } from '../support/findings.ts';
import { boardWith, liveRequest, stateOf } from './support.ts';

const RAN: JudgeEvidence = { command: 'npm test', output: '3 passed' };
const NICE = { text: 'it is nice' };

function verdict(evidence: JudgeEvidence | null, more: Partial<Verdict> = {}): Verdict {
  return { criterion: 0, met: true, evidence, why: 'seen', ...more };
}

function looked(evidence: JudgeEvidence, found: LookedUp): Record<string, LookedUp> {
  return { [evidenceKey('rex', evidence)]: found };
}

describe('evidence', () => {
  it.each<[string, JudgeEvidence | null, LookedUp | undefined, RegExp | undefined]>([
    ['a quote that is there', quoting('a.ts'), { as: 'quoted', line: 7 }, undefined],
    [
      'a quote that is not there',
      quoting('a.ts'),
      { as: 'no-quote' },
      /^a\.ts .*does not have the quote “it is there”/,
    ],
    ['of a file that is not there', quoting('../x'), { as: 'no-file' }, /^the judged commit has no file \.\.\/x/],
    ['of a file that is too large to read', quoting('a.ts'), { as: 'too-large' }, undefined],
    ['that was not looked up', quoting('a.ts'), undefined, undefined],
    ['none', null, undefined, /^`evidence` is null/],
    ['a quote of white space', quoting('a.ts', ' \n\t '), undefined, /too short/],
    ['a quote of one character', quoting('a.ts', '}'), undefined, /too short/],
    ['a quote without letters', quoting('a.ts', '});});'), undefined, /too short/],
    ['a quote of three Chinese characters', quoting('a.ts', '已保存'), { as: 'quoted', line: 1 }, undefined],
    ['a command that ran', RAN, { as: 'ran' }, undefined],
    ['a command that did not', RAN, { as: 'not-run' }, /^you have not run `npm test`/],
    ['a command of which nothing is known', RAN, { as: 'not-told' }, undefined],
    [
      'a command without output',
      { ...RAN, output: ' ' },
      undefined,
      /needs the command that you ran and what it printed/,
    ],
    ['output without a command', { ...RAN, command: '' }, undefined, /needs the command/],
  ])('%s', (_, evidence, found, why) => {
    const all = evidence === null || found === undefined ? {} : looked(evidence, found);
    const said = unshownBy('rex', verdict(evidence), all);
    if (why === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(why);
  });

  it.each<[JudgeEvidence, LookedUp | undefined, string]>([
    [quoting('a.ts'), { as: 'quoted', line: 7 }, 'a.ts:7 at base has “it is there”'],
    [quoting('a.ts'), { as: 'too-large' }, 'a.ts:1 at base: “it is there” (not looked up)'],
    [
      quoting('a.ts', `one\n\u001b[31m${'x'.repeat(5_000)}`),
      undefined,
      `a.ts:1 at base: “one ${'x'.repeat(115)}…” (not looked up)`,
    ],
    [RAN, { as: 'ran' }, '`npm test` (its judge ran it; output not checked)'],
    [RAN, undefined, '`npm test` (not checked whether its judge ran it)'],
  ])('is shown with what squad found: %j %j', (evidence, found, text) => {
    expect(evidenceText('rex', evidence, found === undefined ? {} : looked(evidence, found), 'base')).toBe(text);
  });

  it('is looked up for what is met, once each, of criteria without a command, fifty of an answer', () => {
    const judged = (verdicts: readonly Verdict[]) => ({ task: 'j', by: 'rex', commit: 'base', verdicts });
    const criteria = [NICE, { text: 'it passes', command: 'npm test' }, { text: 'x', proposed: 'npm x' }];
    const of = (...verdicts: Verdict[]) => evidenceIn(judged(verdicts), criteria).evidence;
    expect(of(verdict(RAN), verdict(RAN))).toEqual([RAN]);
    expect(of(verdict(RAN, { met: false }), verdict(null), verdict(quoting('a', '}')))).toEqual([]);
    expect(of(...[1, 2, 3].map((criterion) => verdict(RAN, { criterion })))).toEqual([]);
    const many = Array.from({ length: 10_000 }, (_, index) => verdict(quoting(`f${index}`)));
    expect(of(...many)).toHaveLength(50);
  });
});

describe('the answer of a judge', () => {
  it('has one verdict for each criterion, first that it is not met, and none for what is no label', () => {
    const word = (criterion: string, met: boolean) => ({ criterion, met, evidence: null, why: '' });
    const words = [word('C1', true), word('C1', false), word('C2', false), word('C2', true), word('C0', true)];
    const others = ['c3', '3', 'C', 'C03', 'C9999999', 'C1e3', 'C-1', ''].map((label) => word(label, true));
    expect(verdictsIn([...words, ...others]).map(({ criterion, met }) => [criterion, met])).toEqual([
      [0, false],
      [1, false],
    ]);
    const many = Array.from({ length: 10_000 }, () => word('C1', true));
    expect(verdictsIn(many)).toHaveLength(1);
  });

  const board: Board = boardWith([]);
  const criteria = { ...board.facts.objective, criteria: [NICE] };
  const at = { ...board, facts: { ...board.facts, objective: criteria } };
  const request = liveRequest('judge-1', 'rex');
  const state = (repairs: number) =>
    stateOf(
      'judge',
      { owner: 'engine', output: { schema: 'judgement', repairs: 1 }, workspace: { read: 'run' } },
      { ...newWork(), head: 'base', author: { ...request, used: { ...request.used, repairs } } },
    );
  const answer = { verdicts: [{ criterion: 'C1', met: true, evidence: quoting('gone.ts'), why: '' }] };
  const event = {
    ...({ type: 'attempt-settled', attempt: 'judge-1', outcome: 'completed', text: '', output: answer } as const),
    looked: looked(quoting('gone.ts'), { as: 'no-file' }),
  };

  it('goes back once where its evidence is not there, and counts without it after that', () => {
    const problems = (repairs: number) => {
      const said = withProblems({ answers: {} } as never, at, state(repairs), event);
      return 'problems' in said ? said.problems : undefined;
    };
    expect(problems(0)).toEqual([expect.stringMatching(/^C1: the judged commit has no file gone\.ts/)]);
    expect(problems(1)).toBeUndefined();
    const judged = judgedBy({}, at, state(0), event);
    expect(judged).toMatchObject({ task: 'judge', by: 'rex', commit: 'base', verdicts: [{ criterion: 0 }] });
    expect(evidenceProblems(judged ?? { task: '', by: '', commit: '', verdicts: [] }, event.looked, [])).toEqual([]);
  });

  it('is read only while its attempt is at work', () => {
    expect(judgedBy({}, at, state(0), { ...event, attempt: 'judge-2' })).toBeUndefined();
    expect(judgedBy({}, at, stateOf('a'), event)).toBeUndefined();
    expect(judgedBy({}, at, undefined, event)).toBeUndefined();
    expect(judgedBy({}, at, state(0), { ...event, output: 7 })).toBeUndefined();
  });

  it('names evidence of one of two forms', () => {
    const parse = (evidence: unknown) =>
      judgementAnswerSchema.safeParse({ verdicts: [{ criterion: 'C1', met: true, evidence, why: '' }] }).success;
    expect([RAN, quoting('a'), null].map(parse)).toEqual([true, true, true]);
    expect(['npm test', { command: 'x' }, { file: 'a', line: 1 }, {}].map(parse)).toEqual([false, false, false, false]);
  });
});
