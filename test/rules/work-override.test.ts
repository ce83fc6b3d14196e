import { describe, expect, it } from 'vitest';
import { newWork, stepWork } from '../../src/rules/work.ts';
import {
  agentRequests,
  liveAttempts,
  liveRequests,
  startAttempt,
  unwantedAttempts,
} from '../../src/rules/work-requests.ts';
import { afterFirst, fail, failedCheck, firstSentBack, roundsTaken } from '../../src/rules/work-step.ts';
import { isDelivered, statusOf } from '../../src/rules/work-status.ts';
import type { Cause, NewTask } from '../../src/model/plan/task.ts';
import type { AgentRequest, Phase, ReviewSlot, SentBack, Work, WorkEvent } from '../../src/model/plan/work.ts';
import { boardWith, contextOf, endedAs, liveRequest, REVIEWED, stateOf } from './support.ts';

const LIVE: Partial<Work> = { author: liveRequest('t-1'), attempts: 1 };
const LEAVING = { attempt: 't-1', agent: 'bob', session: 's-bob' };
const ADVANCING: Phase = { at: 'advancing', commit: 'c1', candidate: 'm1', since: 1 };
const slot = (role: string, request: AgentRequest, more: Partial<ReviewSlot> = {}): ReviewSlot => ({
  ...{ role, request, answer: null, tried: [] },
  ...more,
});
const reviewing = (...slots: ReviewSlot[]): Phase => ({ at: 'reviewing', commit: 'c1', slots });

function step(work: Partial<Work>, event: WorkEvent, task: Partial<NewTask> = {}) {
  return stepWork({ ...newWork(), ...work }, event, contextOf(task));
}

describe('an end on request', () => {
  const ASKED = { type: 'settle-asked', as: 'failed', why: 'no' } as const;
  it.each<[string, Partial<Work>, object, object]>([
    ['is at once, if nothing runs', {}, {}, { at: 'ended', as: 'failed', cause: 'cancelled', why: 'no' }],
    ['has the cause that is given', {}, { cause: 'verify' }, { at: 'ended', cause: 'verify' }],
    ['waits for what runs', LIVE, {}, { at: 'stopping', as: 'failed', why: 'no' }],
    ['is late while the branch moves', { phase: ADVANCING }, {}, ADVANCING],
    ['takes delivered work back', endedAs('done'), {}, { at: 'ended', as: 'failed', cause: 'rejected', why: 'no' }],
    ['takes it back for the cause that is given', endedAs('done'), { cause: 'verify' }, { cause: 'verify' }],
    ['takes back no work that failed', endedAs('failed'), {}, { why: 'it failed' }],
    ['skips no work that was delivered', endedAs('done'), { as: 'skipped' }, { as: 'done' }],
  ])('%s', (_name, work, more, phase) => {
    expect(step(work, { ...ASKED, ...more }).work.phase).toMatchObject(phase);
  });

  it('lets what runs leave, and is there with the last of it', () => {
    const second = { attempt: 't-0', agent: 'x', session: 's' };
    const { work } = step({ ...LIVE, leaving: [second] }, ASKED);
    expect([work.leaving, work.author.state]).toEqual([[second, LEAVING], { at: 'queued' }]);
    const settled = { type: 'attempt-settled', outcome: 'cancelled', text: '' } as const;
    const first = step(work, { ...settled, attempt: 't-0' });
    expect([first.work.phase.at, first.work.leaving, first.news]).toEqual(['stopping', [LEAVING], []]);
    const last = step(first.work, { ...settled, attempt: 't-1' });
    expect(last.work).toMatchObject({
      phase: { at: 'ended', as: 'failed', cause: 'cancelled', why: 'no' },
      leaving: [],
    });
  });
});

describe('a retry of a person', () => {
  const RETRY = { type: 'retry-asked', fresh: false, note: null } as const;
  const retried = (work: Partial<Work>, more: object = {}) => step(work, { ...RETRY, ...more }).work;
  const thread = { key: 's', agent: 'bob' };
  const author: AgentRequest = { ...newWork().author, thread, state: { at: 'answered' } };

  it.each<[string, Partial<Work>, object, object]>([
    [
      'of work under way continues',
      { attempts: 1 },
      {},
      { prompt: { why: 'continue', text: 'a person asked for another try' } },
    ],
    ['of work that never began starts', {}, {}, { prompt: { why: 'start' } }],
    [
      'with a note says it',
      { attempts: 1 },
      { note: 'mind x' },
      { prompt: { why: 'feedback', from: 'person', text: 'mind x' } },
    ],
    [
      'of failed work says the last feedback',
      { ...endedAs('failed'), feedback: ['a', 'b'] },
      {},
      { prompt: { why: 'feedback', from: 'person', text: 'b' } },
    ],
    [
      'of failed work says why it failed',
      { ...endedAs('failed'), attempts: 1 },
      {},
      { prompt: { why: 'continue', text: 'a person asked for another try: it failed' } },
    ],
    [
      'of skipped work says nothing of it',
      { ...endedAs('skipped'), attempts: 1, feedback: ['a'] },
      {},
      { prompt: { why: 'continue', text: 'a person asked for another try' } },
    ],
    [
      'from the start starts',
      { attempts: 1 },
      { fresh: true },
      { prompt: { why: 'start' }, session: 'new', reset: true, thread: null },
    ],
    ['keeps the session', { author }, {}, { session: 'same', reset: false, thread }],
    ['stays with a new session', { author: { ...author, session: 'new' } }, {}, { session: 'new', thread }],
  ])('%s', (_name, work, more, request) => expect(retried(work, more).author).toMatchObject(request));

  it.each<[string, Partial<Work>, object, Partial<Work>]>([
    ['begins a round after an end', { ...endedAs('failed'), attempts: 1, round: 2 }, {}, { round: 3, granted: 2 }],
    ['begins none, if it never began', { ...endedAs('cancelled'), round: 2 }, {}, { round: 2, granted: 1 }],
    ['begins none under way', { attempts: 1, round: 2 }, {}, { round: 2, granted: 1 }],
    ['lifts the limits', {}, {}, { uncapped: true }],
    ['keeps the limits of what is only tried again with it', {}, { revived: true }, { uncapped: false }],
    ['keeps lifted limits', { uncapped: true }, { revived: true }, { uncapped: true }],
    [
      'needs another commit after a rejection',
      { ...endedAs('failed', { cause: 'rejected' }), commit: 'c1' },
      {},
      { returned: 'c1' },
    ],
    [
      'needs none from the start',
      { ...endedAs('failed', { cause: 'rejected' }), commit: 'c1' },
      { fresh: true },
      { returned: null },
    ],
    [
      'needs none after another failure',
      { ...endedAs('failed'), commit: 'c1', returned: 'c1' },
      {},
      { returned: null },
    ],
    [
      'forgets what was before',
      {
        returns: { evidence: 1, conflict: 1, verify: 1 },
        output: 1,
        stalled: 'x',
        override: { as: 'done', by: 'd', why: '' },
      },
      {},
      { returns: { evidence: 0, conflict: 0, verify: 0 }, output: null, stalled: null, override: null },
    ],
    [
      'keeps a check that failed',
      { sentBack: { by: 'verify', text: 'x' } },
      {},
      { sentBack: { by: 'verify', text: 'x' } },
    ],
    ['forgets a rejection', { sentBack: { by: 'review', text: 'x' } }, {}, { sentBack: null }],
    ['keeps the feedback', { feedback: ['a'] }, {}, { feedback: ['a'] }],
    ['adds its note', { feedback: ['a'] }, { note: 'b' }, { feedback: ['a', 'b'] }],
    ['lets what runs leave', LIVE, {}, { leaving: [LEAVING], phase: { at: 'working' } }],
    [
      'is late in the queue',
      { phase: { at: 'in-queue', commit: 'c', since: 1 } },
      {},
      { phase: { at: 'in-queue', commit: 'c', since: 1 }, granted: 0, uncapped: false },
    ],
  ] as [string, Partial<Work>, object, Partial<Work>][])('%s', (_name, work, more, expected) => {
    expect(retried(work, more)).toMatchObject(expected);
  });

  it('of a review asks those again who have not answered', () => {
    const answer = { approved: true, summary: '', findings: [], checks: [] } as unknown as ReviewSlot['answer'];
    const failed: AgentRequest = { ...author, session: 'new', state: { at: 'failed', cause: 'attempts', why: 'x' } };
    const phase = reviewing(
      slot('a', author, { answer }),
      slot('b', failed, { tried: ['sue'] }),
      slot('c', liveRequest('t-2', 'rex')),
    );
    const work = retried({ phase, round: 3 });
    expect(work).toMatchObject({ granted: 2, uncapped: true, leaving: [{ attempt: 't-2' }] });
    expect(work.phase).toMatchObject({
      at: 'reviewing',
      slots: [
        { answer, request: { state: { at: 'answered' } } },
        {
          answer: null,
          tried: [],
          request: { state: { at: 'queued' }, session: 'new', thread, prompt: { why: 'start' } },
        },
        { request: { state: { at: 'queued' }, session: 'same' } },
      ],
    });
    expect(retried({ phase }, { note: 'x' }).phase.at).toBe('working');
    expect(retried({ phase }, { fresh: true }).phase.at).toBe('working');
  });
});

describe('the word of a person on how work ends', () => {
  const SAID = { type: 'override-asked', as: 'done', by: 'dana', why: 'fine' } as const;
  it.each<[string, Partial<Work>, Partial<NewTask>, object, object]>([
    [
      'delivers what there is',
      { commit: 'c1' },
      {},
      {},
      { phase: { at: 'in-queue', commit: 'c1', since: 9 }, author: { state: { at: 'answered' } } },
    ],
    [
      'delivers what there is of failed work',
      { ...endedAs('failed'), commit: 'c1' },
      {},
      {},
      { phase: { at: 'in-queue' } },
    ],
    [
      'only marks what is delivered',
      { ...endedAs('done'), commit: 'c1' },
      {},
      {},
      { phase: { at: 'ended', as: 'done', why: 'dana says so: fine' } },
    ],
    ['only marks what has nothing to deliver', {}, {}, {}, { phase: { at: 'ended', as: 'done' } }],
    [
      'only marks what is not integrated',
      { commit: 'c1' },
      { integrate: false },
      {},
      { phase: { at: 'ended', as: 'done' } },
    ],
    [
      'fails it',
      { commit: 'c1' },
      {},
      { as: 'failed' },
      { phase: { as: 'failed', cause: 'cancelled', why: 'dana says so: fine' } },
    ],
    [
      'fails what was delivered',
      endedAs('done'),
      {},
      { as: 'failed' },
      { phase: { as: 'failed', cause: 'cancelled' } },
    ],
    ['waits for what runs', LIVE, {}, { as: 'skipped' }, { phase: { at: 'stopping', as: 'skipped' } }],
    ['lets what runs leave', { ...LIVE, commit: 'c1' }, {}, {}, { phase: { at: 'in-queue' }, leaving: [LEAVING] }],
    ['is kept', { stalled: 'x' }, {}, {}, { stalled: null, override: { as: 'done', by: 'dana', why: 'fine' } }],
  ] as [string, Partial<Work>, Partial<NewTask>, object, object][])('%s', (_name, work, task, more, expected) => {
    expect(step(work, { ...SAID, ...more }, task).work).toMatchObject(expected);
  });

  it('is late while the branch moves', () => {
    expect(step({ phase: ADVANCING }, SAID).work).toEqual({ ...newWork(), phase: ADVANCING });
  });
});

describe('requests of a task', () => {
  const rex = liveRequest('t-2', 'rex');
  it('are those of its phase', () => {
    const work = { ...newWork(), ...LIVE };
    expect(agentRequests(work).map(({ review }) => review)).toEqual([null]);
    expect(agentRequests({ ...work, phase: reviewing(slot('a', rex)) }).map(({ review }) => review)).toEqual(['a']);
    expect(agentRequests({ ...work, phase: { at: 'gathering' } })).toEqual([]);
  });

  it('are live with those that leave', () => {
    const old = { attempt: 't-0', agent: 'x', session: 's' };
    expect(liveAttempts({ ...newWork(), ...LIVE })).toEqual([LEAVING]);
    expect(liveAttempts({ ...newWork(), ...LIVE, leaving: [old] })).toEqual([LEAVING, old]);
    expect(liveAttempts({ ...newWork(), ...LIVE, ...endedAs('done'), leaving: [old] })).toEqual([old]);
  });

  it('are live on a board, and unwanted for a reason', () => {
    const stopped = (stall: string | null) => ({ author: liveRequest('t-1', 'bob', { stop: 'fail', stall }) });
    const old = { attempt: 't-0', agent: 'x', session: 's' };
    const board = boardWith([
      stateOf('a', {}, stopped('silent')),
      stateOf('b', {}, stopped(null)),
      stateOf('c', {}, { leaving: [old] }),
      stateOf('d', {}, { leaving: [old], phase: { at: 'stopping', as: 'failed', why: 'dana said so' } }),
      stateOf('e', {}, { phase: reviewing(slot('a', rex), slot('b', newWork().author)) }),
    ]);
    expect(unwantedAttempts(board).map(({ why }) => why)).toEqual([
      ...['silent', 'no sign of work', 'it is not needed any more', 'dana said so'],
    ]);
    expect(liveRequests(board).map(({ task, attempt, review }) => [task, attempt, review])).toEqual([
      ['a', 't-1', null],
      ['b', 't-1', null],
      ['e', 't-2', 'a'],
    ]);
  });
});

describe('an attempt that starts', () => {
  const started = (review: string | null, agent = 'bob') =>
    ({ type: 'attempt-started', attempt: 't-5', agent, account: 'acc', session: 's5', review }) as const;
  const start = (work: Partial<Work>, review: string | null, agent?: string) =>
    startAttempt({ ...newWork(), ...work }, started(review, agent), { head: 'h1' });
  const { author } = newWork();

  it.each<[string, Partial<Work>, object]>([
    [
      'is the author’s',
      {},
      {
        attempts: 1,
        reviews: 0,
        authors: ['bob'],
        head: 'h1',
        author: {
          state: { at: 'live', attempt: 't-5', agent: 'bob', account: 'acc', session: 's5', stop: null, stall: null },
        },
      },
    ],
    ['after a wait', { author: { ...author, state: { at: 'waiting', until: 5 } } }, { attempts: 1 }],
    ['names its author once', { authors: ['bob'] }, { authors: ['bob'] }],
    ['beside another author', { authors: ['ada'] }, { authors: ['ada', 'bob'] }],
    ['is none without a request', { author: liveRequest('t-1') }, { attempts: 0, head: null }],
    ['is none in another phase', { phase: { at: 'gathering' } }, { attempts: 0, head: null }],
  ])('%s', (_name, work, expected) => expect(start(work, null)).toMatchObject(expected));

  it.each<[string, Partial<Work>, object]>([
    [
      'is a review',
      { phase: reviewing(slot('r', author), slot('s', author)) },
      {
        attempts: 1,
        reviews: 1,
        reviewers: { r: { key: 's5', agent: 'rex' } },
        phase: { slots: [{ request: { state: { at: 'live' } } }, { request: { state: { at: 'queued' } } }] },
      },
    ],
    ['is none of an author', { authors: ['rex'], phase: reviewing(slot('r', author)) }, { attempts: 0, reviews: 0 }],
    [
      'is none of a role that waits for no one',
      { phase: reviewing(slot('r', liveRequest('t-1')), slot('s', author)) },
      { attempts: 0 },
    ],
    ['is none without a review', {}, { attempts: 0 }],
  ])('%s', (_name, work, expected) => expect(start(work, 'r', 'rex')).toMatchObject(expected));
});

describe('what came first', () => {
  const back = (by: SentBack['by'], text = 'x'): SentBack => ({ by, text });
  const afterText = (text: string, why = 'late') => afterFirst({ ...newWork(), sentBack: back('review', text) }, why);

  it.each([
    ['one line', 'one line\nafter that: late'],
    [' bad:\nfirst\nsecond', 'bad:\nfirst\nafter that: late'],
    ['bad\nmore', 'bad\nafter that: late'],
    ['bad\n- a\n- b\nmore', 'bad\n- a\n- b\nafter that: late'],
    ['bad:\n- a\nmore', 'bad:\n- a\nafter that: late'],
    ['bad\n- a\n- b', 'bad\n- a\n- b\nafter that: late'],
    [' \n ', 'late'],
    ['x'.repeat(401), `${'x'.repeat(400)}\nafter that: late`],
  ])('%j', (text, expected) => expect(afterText(text)).toBe(expected));

  it('is nothing, if it was never sent back', () => expect(afterFirst(newWork(), 'late')).toBe('late'));

  it.each([
    ['verify', true],
    ['playbook', true],
    ['review', false],
    ['conflict', false],
    ['evidence', false],
  ] as const)('stays, of a failed check: %s', (by, stays) => {
    const work = { ...newWork(), sentBack: back(by, 'old') };
    expect(failedCheck(work)).toEqual(stays ? back(by, 'old') : null);
    expect(firstSentBack(work, back('conflict', 'new')).text).toBe(stays ? 'old' : 'new');
  });

  const context = contextOf();
  it.each<[SentBack | null, Cause, string]>([
    [back('review', 'bad'), 'rejected', 'no'],
    [back('verify', 'bad'), 'rejected', 'bad\nafter that: no'],
    [back('review', 'bad'), 'attempts', 'bad\nafter that: no'],
    [back('review', 'no'), 'attempts', 'no'],
    [null, 'attempts', 'no'],
  ])('is named in a failure: %j, %s', (sentBack, cause, why) => {
    const { news } = fail({ ...newWork(), sentBack }, context, cause, 'no');
    expect(news).toMatchObject([{ type: 'task-failed', cause, why }]);
  });

  it('counts the rounds since the last retry of a person', () => {
    expect(roundsTaken({ ...newWork(), round: 5, granted: 2 })).toBe(3);
  });
});

describe('how a task ends', () => {
  const cut = (as: 'failed' | 'cancelled' | 'skipped' | 'done') =>
    step(
      { sentBack: { by: 'review', text: 'x' }, feedback: ['f'], output: 1, commit: 'c', followUps: ['u'] },
      {
        ...{ type: 'settle-asked', as, why: 'no' },
      },
    );
  it.each([
    ['failed', { type: 'task-failed', task: 't', cause: 'cancelled', why: 'no', feedback: ['f'] }, 'cancelled'],
    ['cancelled', { type: 'task-failed', task: 't', cause: 'cancelled', why: 'no', feedback: ['f'] }, 'cancelled'],
    ['skipped', { type: 'task-skipped', task: 't', why: 'no' }, null],
    ['done', { type: 'task-done', task: 't', output: 1, commit: 'c', followUps: ['u'] }, null],
  ] as const)('%s', (as, news, cause) => {
    const { work, news: said } = cut(as);
    expect(said).toStrictEqual([news]);
    expect(work.phase).toMatchObject({ as, cause });
    expect(work.sentBack).toEqual(as === 'done' ? null : { by: 'review', text: 'x' });
  });

  it.each<[Phase, string, boolean]>([
    [{ at: 'working' }, 'ready', false],
    [{ at: 'gathering' }, 'live', false],
    [{ at: 'stopping', as: 'failed', why: '' }, 'live', false],
    [reviewing(), 'reviewing', false],
    [{ at: 'in-queue', commit: 'c', since: 1 }, 'integrating', false],
    [{ at: 'integrating', commit: 'c', since: 1 }, 'integrating', false],
    [{ at: 'verifying', commit: 'c', candidate: 'm', since: 1 }, 'integrating', false],
    [ADVANCING, 'integrating', false],
    [{ at: 'ended', as: 'done', cause: null, why: '' }, 'done', true],
    [{ at: 'ended', as: 'skipped', cause: null, why: '' }, 'skipped', true],
    [{ at: 'ended', as: 'failed', cause: null, why: '' }, 'failed', false],
  ])('%j shows', (phase, status, delivered) => {
    const state = stateOf('t', {}, { phase });
    expect([statusOf(state, boardWith([])), isDelivered(state)]).toEqual([status, delivered]);
  });

  it('shows an attempt, and what it waits for', () => {
    expect(statusOf(stateOf('t', {}, LIVE), boardWith([]))).toBe('live');
    expect(statusOf(stateOf('t', { needs: ['a'] }), boardWith([stateOf('a')]))).toBe('waiting');
    expect(isDelivered(undefined)).toBe(false);
  });
});

describe('the begin of what no agent does, a way out of a question, and a new opening', () => {
  const begun = (more: object = {}): WorkEvent => ({ type: 'begun', ...more });
  it.each<[string, Partial<Work>, Partial<NewTask>, object, object]>([
    ['work has an agent', {}, { kind: 'work' }, { commit: 'c' }, { phase: { at: 'working' }, commit: null }],
    [
      'it is late',
      { phase: { at: 'gathering' } },
      { kind: 'integrate' },
      { commit: 'c' },
      { phase: { at: 'gathering' } },
    ],
    ['a check is looked at', {}, { kind: 'check' }, {}, { phase: { at: 'gathering' } }],
    [
      'an integration goes into the queue',
      {},
      { kind: 'integrate' },
      { commit: 'c' },
      { phase: { at: 'in-queue', commit: 'c', since: 9 }, commit: 'c' },
    ],
    [
      'one that is reviewed goes to its reviewers',
      {},
      { kind: 'integrate', ...REVIEWED },
      { commit: 'c', base: 'b' },
      { phase: { at: 'reviewing', commit: 'c' }, commit: 'c', base: 'b' },
    ],
    [
      'one that is reviewed may have no base',
      {},
      { kind: 'integrate', ...REVIEWED },
      { commit: 'c' },
      { phase: { at: 'reviewing' }, base: null },
    ],
    [
      'one without a commit fails',
      {},
      { kind: 'integrate' },
      {},
      { phase: { as: 'failed', cause: 'no-evidence', why: 'there is no commit to integrate' } },
    ],
  ] as [string, Partial<Work>, Partial<NewTask>, object, object][])('%s', (_name, work, task, more, expected) => {
    expect(step(work, begun(more), task).work).toMatchObject(expected);
  });

  const blocked: AgentRequest = { ...newWork().author, state: { at: 'blocked', question: 'q' } };
  const unblocked = (question: string, goOn: boolean): WorkEvent => ({ type: 'unblocked', question, goOn });
  it('a question that is answered lets its request continue', () => {
    expect(step({ author: blocked }, unblocked('q', true)).work.author.state).toEqual({ at: 'queued' });
    expect(step({ author: blocked }, unblocked('other', true)).work.author).toEqual(blocked);
    expect(step({ author: blocked }, unblocked('q', false)).work.phase).toMatchObject({
      ...{ as: 'failed', cause: 'cancelled', why: 'q: a person gave up on it' },
    });
    expect(step({}, unblocked('q', false)).work).toEqual(newWork());
    const both = step({ phase: reviewing(slot('a', liveRequest('t-1')), slot('b', blocked)) }, unblocked('q', true));
    expect(both.work.phase).toMatchObject({
      slots: [{ request: { state: { at: 'live' } } }, { request: { state: { at: 'queued' } } }],
    });
  });

  it('an opening is a new round with feedback, and needs another commit', () => {
    const thread = { key: 's', agent: 'bob' };
    const work: Partial<Work> = {
      ...endedAs('done'),
      round: 2,
      commit: 'c',
      kept: 'k',
      feedback: ['a'],
      output: 1,
      author: { ...blocked, thread },
    };
    const event: WorkEvent = { type: 'reopened', feedback: 'b', session: 'new' };
    const after = step({ ...work, returns: { evidence: 1, conflict: 1, verify: 1 } }, event).work;
    expect(after).toMatchObject({
      phase: { at: 'working' },
      round: 3,
      returned: 'c',
      kept: 'k',
      output: null,
      feedback: ['a', 'b'],
    });
    expect(after).toMatchObject({
      sentBack: { by: 'playbook', text: 'b' },
      returns: { evidence: 0, conflict: 0, verify: 0 },
    });
    expect(after.author).toMatchObject({
      session: 'new',
      thread,
      prompt: { why: 'feedback', from: 'playbook', text: 'b' },
    });
    expect(step(work, event, { base: 'x' }).work.kept).toBeNull();
    expect(step({}, event).work).toEqual(newWork());
  });
});
