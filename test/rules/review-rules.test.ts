import { describe, expect, it } from 'vitest';
import { decideReview, isRepeated, reviewProblem, silentIn, type ReviewPart } from '../../src/rules/review.ts';
import { stepWork, newWork } from '../../src/rules/work.ts';
import type { CheckerChange } from '../../src/model/plan/checker.ts';
import type { Finding, ReviewAnswer } from '../../src/model/plan/review.ts';
import type { ReviewPolicy } from '../../src/model/plan/task.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { AgentRequest, Phase, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { contextOf, liveRequest } from './support.ts';
import { finding } from '../support/findings.ts';

const answer = (approved: boolean, ...findings: Finding[]): ReviewAnswer => ({
  approved,
  summary: 's',
  findings,
  checks: [],
  settled: [],
});
const policy = (more: Partial<ReviewPolicy> = {}): ReviewPolicy => ({
  ...{ by: ['r'], quorum: 'all', rounds: 3, criteria: [] },
  ...more,
});
const part = (role: string, more: Partial<ReviewPart> = {}): ReviewPart => ({
  ...{ role, agent: `${role}-agent`, state: 'answered', answer: answer(true), look: 'some' },
  ...more,
});
const silent = (role: string, why?: string): ReviewPart =>
  part(role, { state: 'failed', answer: null, ...(why === undefined ? {} : { why }) });
const rejecting = (role: string, ...findings: Finding[]) => part(role, { answer: answer(false, ...findings) });
const round = (findings: string[], approved = false): RoundRecord => ({
  ...{ round: 1, commit: 'c0', approved, feedback: '', findings, by: [] },
});

describe('the verdict of a round', () => {
  it.each<[string, ReviewPolicy, ReviewPart[], object]>([
    ['everybody approves', policy(), [part('a'), part('b')], { do: 'approve', overruled: false }],
    [
      'somebody has not spoken yet',
      policy(),
      [part('a'), part('b', { state: 'pending', answer: null })],
      { do: 'wait' },
    ],
    [
      'one is enough',
      policy({ quorum: 'any' }),
      [part('a'), part('b', { state: 'pending', answer: null })],
      { do: 'approve' },
    ],
    ['nobody was asked', policy(), [], { do: 'give-up', why: 'no verdict from anybody' }],
    [
      'nobody could say anything',
      policy(),
      [silent('a', 'lost'), silent('b')],
      { do: 'give-up', why: 'no verdict from a (lost), b' },
    ],
    [
      'silence is no approval',
      policy(),
      [part('a'), silent('b', 'lost')],
      { do: 'give-up', why: 'no verdict from b (lost)' },
    ],
    [
      'it may be left out beside one',
      policy({ withoutVerdict: 'skip' }),
      [part('a'), silent('b', 'lost')],
      { do: 'approve' },
    ],
    ['not without one', policy({ withoutVerdict: 'skip' }), [silent('b')], { do: 'give-up' }],
    [
      'and not beside a rejection',
      policy({ withoutVerdict: 'skip' }),
      [part('a'), rejecting('b', finding('x'))],
      { do: 'reject' },
    ],
    [
      'a rejection counts, with all that was said',
      policy(),
      [part('a'), rejecting('b', finding('Mend it.'))],
      {
        do: 'reject',
        findings: ['mend it'],
        converging: true,
        feedback: 'a (a-agent): approved. s\n\nb (b-agent): rejected. s\n- F1: Mend it. Proof: tried',
      },
    ],
  ])('%s', (_, by, parts, expected) => expect(decideReview(by, parts, [])).toMatchObject(expected));

  it('has what silent judges did not say', () => {
    const decision = decideReview(policy({ withoutVerdict: 'skip' }), [part('a'), silent('b', 'lost')], []);
    expect(decision).toMatchObject({ feedback: 'a (a-agent): approved. s\n\nb (b-agent): no verdict. lost' });
    expect(silentIn([part('a'), silent('b', 'lost'), silent('c')])).toEqual([
      { role: 'b', agent: 'b-agent', why: 'lost' },
      { role: 'c', agent: 'c-agent', why: '' },
    ]);
  });

  it('defects that no one found before no longer count after a rejection, and are follow-ups', () => {
    const late = finding('also this', { blocks: 'defect', criterion: null });
    const said = [round(['mend it'])];
    expect(decideReview(policy(), [rejecting('a', late)], said)).toMatchObject({
      ...{ do: 'approve', overruled: true, followUps: ['also this. Proof: tried'] },
      feedback: expect.stringMatching(
        /^a \(a-agent\): rejected, overruled: .+\. s\n- also this\. Proof: tried$/,
      ) as string,
    });
    expect(decideReview(policy(), [rejecting('a', late, finding('x'))], said)).toMatchObject({
      ...{ do: 'reject', findings: ['x'], followUps: ['also this. Proof: tried'] },
      feedback: 'a (a-agent): rejected. s\n- F1: x. Proof: tried',
    });
    expect(decideReview(policy(), [rejecting('a', late), silent('b')], said)).toMatchObject({ do: 'give-up' });
    expect(decideReview(policy(), [rejecting('a', late)], [])).toMatchObject({ do: 'reject' });
    for (const more of [{ blocks: 'not-fixed' }, { blocks: 'new-harm' }, { wrong: 'Mend it!' }] as const) {
      expect(decideReview(policy(), [rejecting('a', { ...late, ...more })], said)).toMatchObject({ do: 'reject' });
    }
  });

  it.each<[string, string[], RoundRecord[], boolean]>([
    ['the same findings', ['x', 'y'], [round(['x', 'y'])], true],
    ['others', ['x'], [round(['y'])], false],
    ['none', [], [round([])], false],
    ['those of an approval', ['x'], [round(['x'], true)], false],
    ['those of an earlier round', ['x'], [round(['x']), round(['y'])], false],
    ['the first', ['x'], [], false],
  ])('repeats the round before: %s', (_, findings, earlier, expected) =>
    expect(isRepeated(findings, earlier)).toBe(expected),
  );
});

describe('what is wrong with an answer', () => {
  const change = (path: string, guarded = true): CheckerChange => ({
    ...{ path, status: 'modified', added: 1, removed: 1 },
    ...(guarded ? { protected: true } : {}),
  });
  const word = (path: string, accepted = true) => ({ path, accepted, why: 'w' });
  const NO_REASON = 'a rejection needs at least one finding that says what to change';
  it.each<[string, ReviewAnswer, CheckerChange[], string | undefined]>([
    ['nothing', answer(true), [], undefined],
    ['a rejection without a finding', answer(false), [], NO_REASON],
    ['one whose findings say nothing', answer(false, finding(' '), finding('')), [], NO_REASON],
    ['not one that says something', answer(false, finding(' '), finding('x')), [change('a')], undefined],
    [
      'a protected path that it says nothing of',
      { ...answer(true), checks: [word('c')] },
      [change('a'), change('b'), change('c'), change('d', false)],
      '`checks` says nothing of a, b: an approval needs a word on each changed path that is protected',
    ],
    [
      'a change that it does not accept',
      { ...answer(true), checks: [word('a'), word('b', false), word('c', false)] },
      [change('a'), change('b'), change('c', false)],
      'you approve, and do not accept the change of b, c: reject it with a finding, or accept it in `checks`',
    ],
  ])('%s', (_, said, checkers, problem) =>
    expect(reviewProblem(said, { earlier: [], checkers, criteria: 1 })).toBe(problem),
  );
});

describe('an attempt that is settled', () => {
  const slot = (role: string, request: AgentRequest) => ({ role, request, answer: null, tried: [] });
  const reviewing = (...slots: ReturnType<typeof slot>[]): Phase => ({
    at: 'reviewing',
    commit: 'c1000000000000000001',
    slots,
  });
  const settled = (attempt: string, more: object = {}): WorkEvent => ({
    type: 'attempt-settled',
    attempt,
    outcome: 'completed',
    text: '',
    output: answer(true),
    ...more,
  });
  const step = (
    work: Partial<Work>,
    event: WorkEvent,
    review: ReviewPolicy | undefined = policy({ by: ['one', 'two'] }),
  ) => stepWork({ ...newWork(), ...work }, event, contextOf(review === undefined ? {} : { review }));
  const BOTH = { phase: reviewing(slot('one', liveRequest('t-2', 'rex')), slot('two', liveRequest('t-3', 'ann'))) };

  it.each<[string, Partial<Work>, string]>([
    ['of nobody', BOTH, 't-9'],
    ['of an author who waits', {}, 't-1'],
    ['of an author, while it is another attempt', { author: liveRequest('t-2') }, 't-1'],
  ])('%s changes nothing', (_, work, attempt) => {
    expect(step(work, settled(attempt)).work).toEqual({ ...newWork(), ...work });
  });

  it('where no review is wanted any more changes nothing', () => {
    const event = settled('t-2');
    expect(stepWork({ ...newWork(), ...BOTH }, event, contextOf({})).work.phase).toEqual(BOTH.phase);
  });

  it('is that reviewer’s verdict alone', () => {
    const { phase } = step(BOTH, settled('t-3')).work;
    expect(phase.at === 'reviewing' && phase.slots.map((one) => [one.request.state.at, one.answer?.approved])).toEqual([
      ['live', undefined],
      ['answered', true],
    ]);
  });

  it('is noted on that live request alone', () => {
    const raised: WorkEvent = { type: 'wall-raised', attempt: 't-3', why: 'no tool' };
    const { phase } = step(BOTH, raised).work;
    const stalls =
      phase.at === 'reviewing' ? phase.slots.map(({ request: { state } }) => state.at === 'live' && state.stall) : [];
    expect(stalls).toEqual([null, 'no tool']);
    expect(step({ author: liveRequest('t-1') }, raised).work.author.state).toMatchObject({ stall: null });
  });

  it('gives up on a review of which nobody speaks, by its commit', () => {
    const failed = (why: string): AgentRequest => ({
      ...newWork().author,
      state: { at: 'failed', cause: 'attempts', why },
    });
    const work = { phase: reviewing(slot('one', failed('lost')), slot('two', liveRequest('t-3', 'ann'))) };
    const lost = settled('t-3', {
      outcome: 'failed',
      output: undefined,
      failure: { kind: 'cancelled', message: 'c', mayHaveActed: true },
    });
    // A cut turn is tried again: the review still waits.
    expect(step(work, lost).work.phase.at).toBe('reviewing');
    expect(step(work, settled('t-3')).work.phase).toMatchObject({
      ...{ at: 'ended', as: 'failed', why: 'the review of c10000000000: no verdict from one (lost)' },
    });
  });

  it('an answer to a question that no request waits for changes nothing', () => {
    const blocked = (question: string): Partial<Work> => ({
      author: { ...newWork().author, state: { at: 'blocked', question } },
    });
    const goOn = (question: string): WorkEvent => ({ type: 'unblocked', question, goOn: true });
    expect(step(blocked('q'), goOn('q')).work.author.state.at).toBe('queued');
    expect(step(blocked('q'), goOn('other')).work.author.state.at).toBe('blocked');
    expect(step({ author: liveRequest('t-1') }, goOn('q')).work.author.state.at).toBe('live');
  });
});
