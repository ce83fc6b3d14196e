import { describe, expect, it } from 'vitest';
import type { Cited, Finding, ReviewAnswer, SettledFinding } from '../../src/model/plan/review.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { ReviewSlot, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { citedBy, weighFindings } from '../../src/rules/findings.ts';
import { decideReview, reviewProblem, type ReviewPart } from '../../src/rules/review.ts';
import { newWork, stepWork } from '../../src/rules/work.ts';
import { finding, remark } from '../support/findings.ts';
import { contextOf, liveRequest, stateOf } from './support.ts';

const CITED: Cited = {
  'src/a.ts': { lines: 3, changed: true },
  'src/old.ts': { lines: 9, changed: false },
  'src/gone.ts': { lines: null, changed: true },
  'src/none.ts': { lines: null, changed: false },
};
const at = (file: string, line: number | null, more: Partial<Finding> = {}): Finding =>
  finding('it breaks', { file, line, blocks: 'defect', criterion: null, ...more });
const answer = (approved: boolean, findings: Finding[], settled: SettledFinding[] = []): ReviewAnswer => ({
  ...{ approved, findings, settled, checks: [], summary: 's' },
});
const word = (label: string, as: SettledFinding['as'], why = 'seen'): SettledFinding => ({ finding: label, as, why });
const F1 = finding('one');
const F2 = finding('two', { file: 'src/a.ts', line: 2 });
const REJECTED: RoundRecord = {
  ...{
    round: 1,
    commit: 'c1',
    approved: false,
    feedback: 'f',
    findings: ['one', 'src a ts two'],
    open: [F1, F2],
    by: [],
  },
};
const REVIEW = { by: ['reviewer'], quorum: 'all', rounds: 3, criteria: ['it works'] } as const;
const POLICY = { ...REVIEW, by: [...REVIEW.by], criteria: [...REVIEW.criteria] };

describe('the place of a block', () => {
  it.each<[string, Finding, string | undefined]>([
    ['is in the change', at('src/a.ts', 3), undefined],
    ['is a whole file', at('src/a.ts', null), undefined],
    ['is a file that the work deleted', at('src/gone.ts', 7), undefined],
    ['is no file', finding('it breaks'), undefined],
    ['was not looked up', at('src/big.ts', 99_999), undefined],
    ['is like a property of an object', at('constructor', 1), undefined],
    ['is behind the last line', at('src/a.ts', 4), 'src/a.ts has 3 lines, and no line 4'],
    ['is before the first line', at('src/a.ts', 0), 'src/a.ts has 3 lines, and no line 0'],
    ['is a file that is not there', at('src/none.ts', 1), 'the commit has no file src/none.ts'],
    ['is outside of the change', at('src/old.ts', 1), 'the work does not change src/old.ts'],
    ['is outside of it, with a command that fails', at('src/old.ts', 1, { proof: '`npm test` fails' }), undefined],
    ['is outside of it, and was found before', at('src/old.ts', 1, { blocks: 'not-fixed' }), undefined],
    ['has no proof', at('src/a.ts', 1, { proof: ' ' }), '`proof` is empty'],
  ])('%s', (_, one, problem) => {
    const asked = { earlier: [], cited: CITED, criteria: 1 };
    const said = reviewProblem(answer(false, [one]), asked);
    if (problem === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(`finding 1 cannot block: ${problem}`);
    const { blocking, remarks } = weighFindings(answer(false, [one]), asked);
    expect([blocking.length, remarks.length]).toEqual(problem === undefined ? [1, 0] : [0, 1]);
  });

  it('does not matter for a remark', () => {
    expect(
      reviewProblem(answer(true, [{ ...remark('later'), file: 'src/none.ts' }]), { earlier: [], cited: CITED }),
    ).toBe(undefined);
  });
});

describe('an answer', () => {
  it.each<[string, ReviewAnswer, RoundRecord[], string | undefined]>([
    ['that approves with a block', answer(true, [F1]), [], 'you approve, and this blocks'],
    ['that approves with remarks', answer(true, [remark('x')]), [], undefined],
    [
      'that approves what is not fixed',
      answer(true, [], [word('F1', 'not-fixed'), word('F2', 'fixed')]),
      [REJECTED],
      'you approve',
    ],
    ['that rejects with remarks', answer(false, [remark('x')]), [], 'you reject, and nothing blocks'],
    ['that settles too few', answer(true, [], [word('F2', 'fixed')]), [REJECTED], '`settled` says nothing of F1'],
    ['that settles all', answer(true, [], [word('F1', 'fixed'), word('F2', 'withdrawn')]), [REJECTED], undefined],
    [
      'that rejects what was there before',
      answer(false, [at('src/a.ts', 1)], [word('F1', 'fixed'), word('F2', 'fixed')]),
      [REJECTED],
      'after a rejection these are `criterion`, `not-fixed` and `new-harm`',
    ],
    [
      'that rejects for what is not fixed alone',
      answer(false, [], [word('F1', 'not-fixed'), word('F2', 'fixed')]),
      [REJECTED],
      undefined,
    ],
    ['that names no criterion', answer(false, [finding('x', { criterion: 'C2' })]), [], '`criterion` is one of C1'],
  ])('%s', (_, said, earlier, problem) => {
    const found = reviewProblem(said, { earlier, cited: CITED, criteria: 1 });
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it('is asked for once what it leaves out, and always for what contradicts it', () => {
    const repaired = { earlier: [REJECTED], cited: CITED, criteria: 1, isRepaired: true };
    expect(reviewProblem(answer(true, []), repaired)).toBeUndefined();
    expect(reviewProblem(answer(false, [at('src/none.ts', 1)]), repaired)).toBeUndefined();
    expect(reviewProblem(answer(true, [F1]), repaired)).toContain('you approve');
    expect(reviewProblem(answer(false, []), repaired)).toContain('at least one finding');
  });
});

describe('the round after a rejection', () => {
  const part = (said: ReviewAnswer): ReviewPart => ({
    ...{ role: 'r', agent: 'rex', cited: CITED },
    state: 'answered',
    answer: said,
  });

  it('gives the author what is not fixed with what is new, and records a word on each', () => {
    const harm = at('src/a.ts', 1, { blocks: 'new-harm', right: 'Keep it.', proof: '`node a` fails.' });
    const said = answer(false, [harm, remark('a name')], [word('F1', 'not-fixed', 'still so'), word('F2', 'fixed')]);
    expect(decideReview(POLICY, [part(said)], [REJECTED])).toMatchObject({
      do: 'reject',
      feedback:
        'r (rex): rejected. s\n- F1: one. Proof: still so\n- F2: src/a.ts:1: it breaks. Instead: Keep it. Proof: `node a` fails',
      open: [{ wrong: 'one' }, harm],
      followUps: ['a name. Proof: tried'],
      settled: [
        { finding: 'F1', as: 'not-fixed', why: 'still so', by: 'rex' },
        { finding: 'F2', as: 'fixed', why: 'seen', by: 'rex' },
      ],
    });
  });

  it('says once what is not fixed where a finding says it, too', () => {
    const again = { ...F2, wrong: 'two, still', blocks: 'not-fixed' } as const;
    const said = answer(false, [again], [word('F1', 'fixed'), word('F2', 'not-fixed')]);
    expect(decideReview(POLICY, [part(said)], [REJECTED])).toMatchObject({
      open: [again],
      findings: ['src a ts two still'],
    });
  });

  it('drops words on findings that the review was not asked about', () => {
    const said = answer(true, [], [word('F1', 'fixed'), word('F2', 'fixed'), word('F9', 'not-fixed')]);
    expect(decideReview(POLICY, [part(said)], [REJECTED])).toMatchObject({
      ...{ do: 'approve', overruled: false },
      settled: [{ finding: 'F1' }, { finding: 'F2' }],
    });
  });
});

describe('a block that is not there', () => {
  const settle = (repairs: number): Work => {
    const request = liveRequest('t-2', 'rex');
    const slot: ReviewSlot = {
      ...{ role: 'reviewer', answer: null, tried: [] },
      request: { ...request, used: { ...request.used, repairs } },
    };
    const event: WorkEvent = {
      ...{ type: 'attempt-settled', attempt: 't-2', outcome: 'completed', text: '' },
      ...{ output: answer(false, [at('src/none.ts', 1)]), cited: CITED },
    };
    const work = { ...newWork(), commit: 'c1', phase: { at: 'reviewing', commit: 'c1', slots: [slot] } as const };
    return stepWork(work, event, contextOf({ review: POLICY })).work;
  };

  it('goes back to its reviewer, and is a remark after that', () => {
    expect(settle(0).phase).toMatchObject({
      slots: [
        { request: { prompt: { why: 'repair', text: expect.stringContaining('no file src/none.ts') as string } } },
      ],
    });
    const { phase, rounds, followUps } = settle(1);
    expect(phase).toMatchObject({ at: 'in-queue' });
    expect(rounds).toMatchObject([{ approved: false, overruled: true }]);
    expect(followUps).toEqual([
      expect.stringMatching(
        /^src\/none\.ts:1: it breaks\. Proof: tried \(its reviewer says that it blocks, but .+\)$/,
      ) as string,
    ]);
  });
});

it('the files to look up are those of the answer of a review at work', () => {
  const request = liveRequest('a-2', 'rex');
  const slots: ReviewSlot[] = [{ role: 'reviewer', request, answer: null, tried: [] }];
  const phase = { at: 'reviewing', commit: 'c2', slots } as const;
  const settled = (attempt: string, ...findings: Finding[]): WorkEvent => ({
    ...{ type: 'attempt-settled', attempt, outcome: 'completed', text: '', output: answer(false, findings) },
  });
  const state = (work: Partial<Work>) => stateOf('a', { review: POLICY }, { phase, ...work });
  const found = citedBy(state({ base: 'b0' }), settled('a-2', at('src/a.ts', 1), at('src/a.ts', 2), F1));
  expect(found).toEqual({ attempt: 'a-2', commit: 'c2', bases: ['b0'], files: ['src/a.ts'] });
  const one = settled('a-2', at('src/a.ts', 1));
  expect(citedBy(state({ base: 'b0', rounds: [REJECTED] }), one)?.bases).toEqual(['b0', 'c1']);
  expect(citedBy(state({}), one)?.bases).toEqual([]);
  expect(citedBy(state({}), settled('a-2', F1))).toBeUndefined();
  const many = Array.from({ length: 200 }, (_, index) => at(`f${index}`, 1));
  expect(citedBy(state({}), settled('a-2', ...many))?.files).toHaveLength(50);
  expect(citedBy(state({}), settled('a-1', at('src/a.ts', 1)))).toBeUndefined();
  expect(citedBy(state({ phase: { at: 'working' } }), one)).toBeUndefined();
  expect(citedBy(undefined, one)).toBeUndefined();
});
