import { describe, expect, it } from 'vitest';
import { openReview } from '../../src/rules/work-review.ts';
import { newWork, stepWork } from '../../src/rules/work.ts';
import type { WorkContext } from '../../src/rules/work-step.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import type { CheckerChange } from '../../src/model/plan/checker.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { ReviewSlot, Used, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { contextOf, liveRequest } from './support.ts';
import { ALL_FIXED, finding, remark } from '../support/findings.ts';

const CHANGE: CheckerChange = { path: 'x', status: 'modified', added: 1, removed: 1 };
const YES = { approved: true, summary: 'ok', findings: [], checks: [], settled: ALL_FIXED };
const NO = { approved: false, summary: 'no', findings: [finding('mend it')], checks: [], settled: ALL_FIXED };
const LATE = { ...NO, findings: [finding('also this', { blocks: 'defect', criterion: null })] };
const policy = (by: string[] = ['reviewer'], rounds = 3, more: object = {}): Partial<NewTask> => ({
  review: { by, quorum: 'all', rounds, criteria: ['it works'], ...more },
});
const slotOf = (role: string, attempt: string, agent: string): ReviewSlot => ({
  ...{ role, request: liveRequest(attempt, agent), answer: null, tried: [] },
});
/** Its reviewer has repaired an answer. */
const repaired = (slot: ReviewSlot): ReviewSlot => ({
  ...slot,
  request: { ...slot.request, used: { ...slot.request.used, repairs: 1 } },
});
const ROUND: RoundRecord = { round: 1, commit: 'c0', approved: false, feedback: 'x', findings: ['mend it'], by: [] };

function judge(
  output: unknown,
  more: Partial<Work> = {},
  task: Partial<NewTask> = policy(),
  about: Partial<WorkContext> = {},
  slots = [slotOf('reviewer', 't-2', 'rex')],
  checkers?: CheckerChange[],
) {
  const phase = { at: 'reviewing', commit: 'c1', slots, ...(checkers && { checkers }) } as const;
  const event = { type: 'attempt-settled', attempt: 't-2', outcome: 'completed', text: '', output } as WorkEvent;
  return stepWork({ ...newWork(), commit: 'c1', authors: ['bob'], ...more, phase }, event, contextOf(task, about));
}

describe('a review that opens', () => {
  it('asks each role, in the session that it had', () => {
    const thread = { key: 's', agent: 'rex' };
    const open = (checkers?: CheckerChange[]) =>
      openReview({ ...newWork(), reviewers: { b: thread } }, 'c1', contextOf(policy(['a', 'b'])), checkers).work.phase;
    expect(open()).toMatchObject({
      ...{ at: 'reviewing', commit: 'c1' },
      slots: [
        { role: 'a', answer: null, tried: [], request: { thread: null, prompt: { why: 'start' } } },
        { role: 'b', request: { thread } },
      ],
    });
    expect('checkers' in open()).toBe(false);
    expect('checkers' in open([])).toBe(false);
    expect(open([CHANGE])).toMatchObject({ checkers: [CHANGE] });
    expect(openReview(newWork(), 'c1', contextOf()).work.phase).toMatchObject({ slots: [] });
  });
});

describe('reviews in order', () => {
  const both = (rounds = 2): Partial<NewTask> => ({
    review: { id: 'A', by: ['reviewer'], quorum: 'all', rounds: 9, criteria: [] },
    laterReviews: [{ id: 'B', by: ['qa'], quorum: 'all', rounds, criteria: [], session: { of: 'guide' } }],
  });
  const [first, second] = [slotOf('reviewer', 't-2', 'rex'), slotOf('qa', 't-2', 'quinn')];
  const atSecond = (output: unknown, more: Partial<Work> = {}, slot = second) => {
    const phase = { at: 'reviewing', commit: 'c1', slots: [slot], review: 1, checkers: [CHANGE] } as const;
    const event = { type: 'attempt-settled', attempt: 't-2', outcome: 'completed', text: '', output } as WorkEvent;
    return stepWork({ ...newWork(), commit: 'c1', authors: ['bob'], ...more, phase }, event, contextOf(both()));
  };

  it.each([
    ['a reviewer of that role', { key: 's', agent: 'quinn' }, { key: 's', agent: 'quinn' }],
    ['another agent', { key: 's', agent: 'bob' }, null],
    ['nobody', null, null],
  ])('open one after the other on the same commit, with the session lent by %s', (_, thread, expected) => {
    const about = { threadOf: (id: string) => (id === 'guide' ? thread : null), membersOf: () => ['quinn'] };
    const { work } = judge(YES, {}, both(), about, [first], [CHANGE]);
    expect(work.phase).toMatchObject({
      ...{ at: 'reviewing', commit: 'c1', review: 1, checkers: [CHANGE] },
      slots: [{ role: 'qa', request: { thread: expected, state: { at: 'queued' } } }],
    });
    expect(work.rounds).toMatchObject([{ review: 'A', round: 1, approved: true, at: 1_000 }]);
  });

  it('go on after a rejection that no longer counts', () => {
    const rounds = [{ ...ROUND, review: 'A' }];
    expect(judge(LATE, { rounds }, both(), {}, [repaired(first)]).work.phase).toMatchObject({
      at: 'reviewing',
      review: 1,
    });
  });

  it('hold a finding against the rounds of its own review alone', () => {
    const rounds = [{ ...ROUND, review: 'A', findings: [] }];
    expect(atSecond(LATE, { rounds }).work.phase.at).toBe('working');
    expect(atSecond(LATE, { rounds: [{ ...ROUND, review: 'B', findings: [] }] }, repaired(second)).work.phase.at).toBe(
      'in-queue',
    );
  });

  it('let the last one deliver, and begin again at the first with a new commit', () => {
    expect(atSecond(YES).work.phase).toMatchObject({ at: 'in-queue', commit: 'c1' });
    const { work } = atSecond(NO);
    expect(work).toMatchObject({ phase: { at: 'working' }, round: 2, returned: 'c1' });
    expect(openReview(work, 'c2', contextOf(both())).work.phase).toMatchObject({ slots: [{ role: 'reviewer' }] });
    expect(openReview(work, 'c2', contextOf(both())).work.phase).not.toHaveProperty('review');
  });

  it.each([
    ['one of its own', [{ ...ROUND, review: 'B' }], 0, 'ended'],
    [
      'two of another review',
      [
        { ...ROUND, review: 'A' },
        { ...ROUND, review: 'A', round: 2 },
      ],
      0,
      'working',
    ],
    ['one before a retry', [{ ...ROUND, review: 'B' }], 1, 'working'],
  ] as const)('end at the rounds of the review that rejects, with %s before', (_, rounds, granted, at) => {
    expect(atSecond(NO, { rounds, round: rounds.length + 1, granted }).work.phase.at).toBe(at);
  });
});

describe('a rejection with a category', () => {
  const ways = { code: 'author', design: 'playbook', needs: 'block', style: 'playbook' } as const;
  const task = (by = ['reviewer'], rounds = 3) => policy(by, rounds, { reopens: ways });
  const no = (category?: string, more: object = {}) => ({ ...NO, ...(category && { category }), ...more });
  const MISSING = { required_inputs: ['the price list'], recommended_next_step: 'ask sales' };

  it.each([
    ['none', undefined],
    ['another one', 'colour'],
  ])('asks again for one of the list where it names %s', (_, category) => {
    expect(judge(no(category), {}, task()).work.phase).toMatchObject({
      slots: [
        {
          request: {
            prompt: { why: 'repair', text: 'a rejection names its `category`, one of code, design, needs, style' },
          },
        },
      ],
    });
  });

  it.each<[string, object, number, object, object[]]>([
    ['goes back to its author', no('code'), 1, { phase: { at: 'working' }, round: 2 }, []],
    [
      'leads to the playbook at once',
      no('design'),
      1,
      { phase: { at: 'ended', as: 'failed', cause: 'rejected' } },
      [{ type: 'task-failed', category: 'design', why: 'rejected in round 1 of 3: design' }],
    ],
    [
      'fails the work in the last round, wherever it leads',
      no('design'),
      3,
      { phase: { at: 'ended', as: 'failed', cause: 'rejected' } },
      [{ type: 'task-failed', why: 'rejected in round 3 of 3' }],
    ],
    [
      'ends the work with what is missing',
      no('needs', MISSING),
      1,
      { phase: { cause: 'blocked' }, rounds: [{ category: 'needs', blocked: MISSING }] },
      [
        {
          cause: 'blocked',
          why: 'blocked by its review: needs\nrequired inputs: the price list\nrecommended next step: ask sales',
        },
      ],
    ],
  ])('%s', (_, output, round, work, news) => {
    const step = judge(output, { round }, task());
    expect(step.work).toMatchObject(work);
    expect(step.news).toMatchObject(news);
    if (round === 3) expect(step.news[0]).not.toHaveProperty('category');
  });

  it.each([
    [['code', 'needs'], 'needs'],
    [['code', 'style'], 'style'],
    [['style', 'design'], 'design'],
    [['code', 'code'], 'code'],
  ])('of several (%s) is %s', ([mine, other], expected) => {
    const answered = { ...slotOf('other', 't-3', 'sue'), answer: no(other) } as ReviewSlot;
    const done = { ...answered, request: { ...answered.request, state: { at: 'answered' } } } as ReviewSlot;
    const { work } = judge(no(mine), {}, task(['reviewer', 'other']), {}, [slotOf('reviewer', 't-2', 'rex'), done]);
    expect(work.rounds).toMatchObject([{ category: expected }]);
  });

  it('is not asked of an approval', () => {
    expect(judge(YES, {}, task()).work.phase.at).toBe('in-queue');
    expect(judge(YES, {}, task()).work.rounds[0]).not.toHaveProperty('category');
  });
});

describe('an approval', () => {
  it('takes the work into the queue, or ends it', () => {
    expect(judge(YES).work.phase).toEqual({ at: 'in-queue', commit: 'c1', since: 9 });
    expect(judge(YES, {}, { ...policy(), integrate: false }).work.phase).toMatchObject({ at: 'ended', as: 'done' });
  });

  it('is on record', () => {
    const { work } = judge({ ...YES, findings: [remark('later')] }, { followUps: ['before'] });
    expect(work.rounds).toStrictEqual([
      {
        ...{ round: 1, commit: 'c1', approved: true, findings: [] },
        ...{ feedback: 'reviewer (rex): approved. ok', by: [{ role: 'reviewer', agent: 'rex', approved: true }] },
      },
    ]);
    expect(work.followUps).toEqual(['before', 'later. Proof: tried']);
    expect(
      judge({ ...YES, findings: [remark('before')] }, { followUps: ['before. Proof: tried'] }).work.followUps,
    ).toEqual(['before. Proof: tried']);
    expect('words' in work).toBe(false);
  });

  it.each([
    ['review', null],
    ['verify', { by: 'verify', text: 'x' }],
  ] as const)('answers what work was sent back for by %s', (by, expected) => {
    expect(judge(YES, { sentBack: { by, text: 'x' } }).work.sentBack).toEqual(expected);
  });

  it('lets the other reviewers leave', () => {
    const slots = [slotOf('reviewer', 't-2', 'rex'), slotOf('other', 't-3', 'sue')];
    const { work } = judge(YES, {}, policy(['reviewer', 'other'], 3, { quorum: 'any' }), {}, slots);
    expect(work.leaving).toEqual([{ attempt: 't-3', agent: 'sue', session: 's-sue' }]);
    const waits = judge(YES, {}, policy(['reviewer', 'other']), {}, slots);
    expect(waits.work).toMatchObject({
      phase: { at: 'reviewing', slots: [{ answer: YES }, { answer: null }] },
      leaving: [],
      rounds: [],
    });
  });

  it('has words on the changed checks, and on no other path', () => {
    const word = { path: 'x', accepted: true, why: 'same' };
    const output = { ...YES, checks: [word, { ...word, path: 'y' }] };
    const old = { ...word, by: 'sue', commit: 'c0' };
    expect(judge(output, { words: [old] }, policy(), {}, undefined, [CHANGE]).work.words).toEqual([
      ...[old, { ...word, by: 'rex', commit: 'c1' }],
    ]);
    expect(judge(output).work.words).toBeUndefined();
  });

  it('without a look goes back once, where a look is required', () => {
    const event = {
      type: 'attempt-settled',
      attempt: 't-2',
      outcome: 'completed',
      text: '',
      output: YES,
      look: 'none',
    } as const;
    const phase = { at: 'reviewing', commit: 'c1', slots: [slotOf('reviewer', 't-2', 'rex')] } as const;
    const after = (looks?: 'required') => stepWork({ ...newWork(), phase }, event, contextOf(policy(), { looks })).work;
    expect(after('required').phase).toMatchObject({ slots: [{ request: { prompt: { why: 'repair' } } }] });
    expect(after().rounds).toMatchObject([{ by: [{ look: 'none' }] }]);
  });
});

describe('a rejection', () => {
  const text = 'reviewer (rex): rejected. no\n- F1: mend it. Proof: tried';
  it('sends the work back, for another commit', () => {
    expect(judge(NO).work).toMatchObject({
      phase: { at: 'working' },
      ...{ round: 2, returned: 'c1', sentBack: { by: 'review', text }, feedback: [text] },
      author: { prompt: { why: 'feedback', from: 'review', text } },
      rounds: [{ approved: false, findings: ['mend it'] }],
    });
    expect(judge(NO).work.rounds[0]).not.toHaveProperty('overruled');
  });

  it('in the last round fails the work', () => {
    const { news, work } = judge(NO, { round: 3 });
    expect(news).toMatchObject([
      { type: 'task-failed', cause: 'rejected', why: 'rejected in round 3 of 3', feedback: [text] },
    ]);
    expect(work.feedback).toEqual([text]);
    expect(judge(NO, { round: 3, granted: 1 }).work.phase.at).toBe('working');
  });

  it('that says the same again is told, and may end the work', () => {
    const same = 'not converging: the same findings as in the round before';
    const again = { round: 2, rounds: [ROUND] };
    expect(judge(NO, again).work.feedback).toEqual([`${text}\n\n${same}`]);
    const stops = policy(['reviewer'], 3, { whenNotConverging: 'stop' });
    expect(judge(NO, again, stops).work.phase).toMatchObject({
      why: `rejected in round 2 of 3; ${same}, so the work stops`,
    });
    expect(judge(NO, { ...again, granted: 1 }, stops).work.phase.at).toBe('working');
    expect(judge(NO, { round: 2 }, stops).work.phase.at).toBe('working');
    expect(judge(NO, { ...again, round: 3 }).work.phase).toMatchObject({ why: `rejected in round 3 of 3; ${same}` });
  });

  it('with late findings alone is overruled, and on record as such', () => {
    const { work } = judge(LATE, { round: 2, rounds: [ROUND] }, policy(), {}, [
      repaired(slotOf('reviewer', 't-2', 'rex')),
    ]);
    expect(work).toMatchObject({ phase: { at: 'in-queue' }, followUps: ['also this. Proof: tried'] });
    expect(work.rounds[1]).toMatchObject({ approved: false, overruled: true, findings: [] });
  });
});

describe('a reviewer without a verdict', () => {
  const BAD = { approved: 'maybe' };
  const spent = (tried: string[] = []): ReviewSlot[] => {
    const slot = slotOf('reviewer', 't-2', 'rex');
    return [{ ...slot, tried, request: { ...slot.request, used: { ...slot.request.used, repairs: 1 } } }];
  };
  const slotAfter = (names: string[], tried?: string[]) =>
    judge(BAD, {}, policy(), { membersOf: () => names }, spent(tried));

  it('is asked again once', () => {
    expect(judge(BAD).work.phase).toMatchObject({
      slots: [{ request: { prompt: { why: 'repair', text: 'no answer of the form review' } }, answer: null }],
    });
  });

  it('is replaced by one who has not tried, and is no author', () => {
    const { phase } = slotAfter(['rex', 'bob', 'sue']).work;
    expect(phase).toMatchObject({
      slots: [{ tried: ['rex'], request: { state: { at: 'queued' }, thread: null }, answer: null }],
    });
  });

  it.each([
    [['rex', 'bob'], []],
    [['rex', 'sue'], ['sue']],
  ])('is the last of %j, where %j have tried', (names, tried) => {
    expect(slotAfter(names, tried).work.phase).toMatchObject({
      ...{ at: 'ended', as: 'failed', cause: 'attempts' },
      why: 'the review of c1: no verdict from reviewer (bad-output: no answer of the form review)',
    });
  });

  const failing = (kind: FailureKind, used: Partial<Used>, names = ['rex', 'sue'], more: Partial<Work> = {}) => {
    const slot = slotOf('reviewer', 't-2', 'rex');
    const slots = [{ ...slot, request: { ...slot.request, used: { ...slot.request.used, ...used } } }];
    const failure = { kind, message: 'm', mayHaveActed: true } as const;
    const event = { type: 'attempt-settled', attempt: 't-2', outcome: 'failed', text: '', failure } as const;
    const context = contextOf(policy(), { membersOf: () => names });
    return stepWork({ ...newWork(), ...more, phase: { at: 'reviewing', commit: 'c1', slots } }, event, context).work;
  };
  const by = (kind: string) => ({ round: 1, role: 'reviewer', agent: 'rex', by: 'sue', why: `${kind}: m` });

  it.each([
    ['stalled', { retries: 1 }],
    ['stalled', { repairs: 1 }],
    ['output-truncated', { retries: 2 }],
    ['bad-output', { repairs: 1 }],
    ['bad-request', {}],
    ['crashed', { infrastructure: 5 }],
    ['network', { transient: 8 }],
  ] as const)('%s, with %j used before, lets another one judge', (kind, used) => {
    const work = failing(kind, used);
    expect(work.replaced).toEqual([by(kind)]);
    expect(work.phase).toMatchObject({
      slots: [{ instead: 'sue', tried: ['rex'], request: { state: { at: 'queued' } } }],
    });
  });

  it.each([
    ['stalled', {}],
    ['crashed', { retries: 0, infrastructure: 4 }],
    ['rate-limited', { waits: 9 }],
    ['cancelled', { retries: 1 }],
    ['auth', {}],
  ] as const)('%s, with %j used before, lets the same one judge', (kind, used) => {
    const work = failing(kind, used);
    expect(work.phase).toMatchObject({ slots: [{ tried: [], request: { thread: { agent: 'rex' } } }] });
    expect(work).not.toHaveProperty('replaced');
  });

  it('has the turns that it would have alone, where nobody else may judge', () => {
    expect(failing('stalled', { retries: 1 }, ['rex']).phase).toMatchObject({
      slots: [{ request: { used: { retries: 2 } } }],
    });
    expect(failing('stalled', { retries: 2 }, ['rex']).phase).toMatchObject({ at: 'ended', cause: 'attempts' });
  });

  it('is not replaced in a folder in which it is still at work', () => {
    expect(failing('not-stopped', {}).phase).toMatchObject({ at: 'ended', cause: 'attempts' });
  });

  it('says all whom it was asked of', () => {
    const before = { ...by('stalled'), agent: 'ann', by: 'rex' };
    expect(failing('bad-request', {}, undefined, { replaced: [before] }).replaced).toEqual([before, by('bad-request')]);
  });

  it('stays replaced in the next round, unless that agent has worked on it since', () => {
    const work = { ...newWork(), reviewers: { reviewer: { key: 's', agent: 'pm' } } };
    const replaced = [{ ...by('stalled'), by: 'pm' }];
    const open = (more: Partial<Work>) => openReview({ ...work, ...more }, 'c2', contextOf(policy())).work.phase;
    expect(open({ replaced })).toMatchObject({ slots: [{ instead: 'pm', request: { thread: { agent: 'pm' } } }] });
    expect(open({ replaced, authors: ['pm'] })).not.toHaveProperty('slots.0.instead');
    expect(open({})).not.toHaveProperty('slots.0.instead');
    const ofRole = contextOf(policy(), { membersOf: () => ['pm'] });
    expect(openReview({ ...work, replaced }, 'c2', ofRole).work.phase).not.toHaveProperty('slots.0.instead');
  });

  it('is left out beside an approval, where the stage allows that', () => {
    const failed = {
      ...spent()[0]!,
      role: 'pm',
      request: { ...liveRequest('t-3', 'pm'), state: { at: 'failed', cause: 'attempts', why: 'w' } },
    };
    const slots = [slotOf('reviewer', 't-2', 'rex'), failed as ReviewSlot];
    const skips = policy(['reviewer', 'pm'], 3, { withoutVerdict: 'skip' });
    const silent = [{ role: 'pm', agent: 'pm', why: 'w' }];
    const { work } = judge(YES, {}, skips, {}, slots);
    expect(work).toMatchObject({ phase: { at: 'in-queue' }, rounds: [{ approved: true, silent }] });
    expect(work.rounds[0]?.feedback).toBe('reviewer (rex): approved. ok\n\npm (pm): no verdict. w');
    expect(judge(YES, {}, policy(['reviewer', 'pm']), {}, slots).work.phase).toMatchObject({
      at: 'ended',
      as: 'failed',
    });
    expect(judge(NO, {}, skips, {}, slots).work).toMatchObject({
      phase: { at: 'working' },
      rounds: [{ approved: false, silent }],
    });
    expect(judge(YES, {}, policy(['reviewer', 'pm'], 3, { quorum: 'any' }), {}, slots).work.rounds).toMatchObject([
      { silent },
    ]);
    expect(judge(BAD, {}, skips, {}, [...spent(), failed as ReviewSlot]).work.phase).toMatchObject({ as: 'failed' });
  });

  it('whose turn is not known changes nothing', () => {
    const slots = [slotOf('reviewer', 't-9', 'rex')];
    expect(judge(YES, {}, policy(), {}, slots).work.phase).toMatchObject({ at: 'reviewing', slots });
  });
});
