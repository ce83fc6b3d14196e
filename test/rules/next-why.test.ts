import { describe, expect, it } from 'vitest';
import { decideNext, type Next, type NextFacts } from '../../src/rules/next.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, Pause, Question, TaskState } from '../../src/model/plan/board.ts';
import type { Phase, Work } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, liveRequest, stateOf } from './support.ts';

const FREE: NextFacts = {
  ...{ parallel: 4, limits: { reached: false }, now: 1_000, draining: false, patienceMs: null, pendingMail: 0 },
};
const at = (id: string, phase: Phase, more: Partial<Work> = {}): TaskState => stateOf(id, {}, { phase, ...more });
const live = (id: string): TaskState => stateOf(id, {}, { author: liveRequest(`${id}-1`), attempts: 1 });
const queued = (id: string, since: number): TaskState => at(id, { at: 'in-queue', commit: 'c', since });
const GATHERING: Phase = { at: 'gathering' };
const ADVANCING: Phase = { at: 'advancing', commit: 'c', candidate: 'd', since: 1 };
const blocked = (id: string): TaskState =>
  stateOf(id, {}, { author: { ...newWork().author, state: { at: 'blocked', question: 'q' } } });
const FINISHED: Partial<Board> = { finished: { outcome: 'failed', why: 'it broke' } };
const asks = (id: string, more: Partial<Question> = {}): Partial<Board> => ({
  questions: new Map([
    [id, { id, text: `${id}?`, options: ['yes'], blocks: ['a'], by: 'engine', answer: null, ...more }],
  ]),
});
const paused = (verb: Pause['verb'], scope = 'run'): Partial<Board> => ({
  pauses: new Map([[scope, { verb, by: 'ada', at: 1 }]]),
});
const LIMIT: Partial<NextFacts> = { limits: { reached: true, why: 'usd: 1 of 1 used' } };
const waits = (why: string, more: Partial<Extract<Next, { next: 'wait' }>> = {}): Next => ({
  ...{ next: 'wait', until: null, why, suspended: false },
  ...more,
});

type Row = readonly [name: string, states: TaskState[], more: Partial<Board>, facts: Partial<NextFacts>, next: object];

describe('what a run does next, and why', () => {
  it.each<Row>([
    ['starts what is ready', [stateOf('a')], {}, {}, { next: 'start', why: '1 task ready', integrate: null }],
    ['and more of it', [stateOf('a'), stateOf('b')], {}, {}, { next: 'start', why: '2 tasks ready' }],
    ['integrates', [queued('a', 1)], {}, {}, { next: 'start', why: 'a is next to be integrated', integrate: 'a' }],
    [
      'does both',
      [queued('a', 1), stateOf('b')],
      {},
      {},
      { next: 'start', why: '1 task ready; a is next to be integrated', integrate: 'a' },
    ],
    ['the oldest in the queue first', [queued('a', 3), queued('b', 2)], {}, {}, { integrate: 'b' }],
    ['whichever came first, at the same time', [queued('a', 2), queued('b', 2)], {}, {}, { integrate: 'a' }],
    ['one after the other', [queued('a', 1), at('b', ADVANCING)], {}, {}, waits('1 being checked')],
    ['what may hold the queue', [at('a', GATHERING)], {}, {}, { next: 'start', integrate: 'a' }],
    ['after what is in it', [at('a', GATHERING), queued('b', 5)], {}, {}, { integrate: 'b' }],
    [
      'none while the run branch is moved away',
      [queued('a', 1)],
      { branch: { head: 'base', foreign: { head: 'x', question: 'moved', way: null }, checkedOut: null } },
      { pendingMail: 1 },
      waits('1 message under way'),
    ],
    [
      'none while a question about the base commit is open',
      [queued('a', 1)],
      { ...asks('base'), baseline: { at: 'off', tries: 1, facts: null, question: 'base', without: null } },
      {},
      { next: 'ask' },
    ],
    ['waits for what is live', [live('a')], {}, {}, waits('1 attempt live')],
    [
      'and what is checked',
      [live('a'), live('b'), at('c', ADVANCING)],
      {},
      {},
      waits('2 attempts live, 1 being checked'),
    ],
    [
      'no longer than to the first that is due',
      [live('a')],
      {
        timers: new Map([
          ['later', 4_000],
          ['soon', 3_000],
        ]),
      },
      {},
      waits('1 attempt live', { until: 3_000 }),
    ],
    [
      'for a timer',
      [blocked('a')],
      { timers: new Map([['t', 3_000]]) },
      {},
      { why: 'a timer is set', until: 3_000, suspended: true },
    ],
    [
      'for the next try',
      [stateOf('a', {}, { author: { ...newWork().author, state: { at: 'waiting', until: 2_000 } } })],
      { now: 1_000 },
      {},
      waits('waits before the next try', { until: 2_000, suspended: true }),
    ],
    [
      'not longer than it was told to',
      [blocked('a')],
      { now: 1_000, timers: new Map([['t', 3_001]]) },
      { patienceMs: 2_000 },
      { next: 'stop', because: 'waiting', why: 'a timer is set, until 1970-01-01T00:00:03.001Z' },
    ],
    [
      'as long as it was told to',
      [blocked('a')],
      { now: 1_000, timers: new Map([['t', 3_000]]) },
      { patienceMs: 2_000 },
      waits('a timer is set', { until: 3_000, suspended: true }),
    ],
    ['for mail', [blocked('a')], {}, { pendingMail: 2 }, waits('2 messages under way')],
    [
      'asks when nothing else can move',
      [blocked('a')],
      asks('q'),
      {},
      { next: 'ask', questions: [{ id: 'q', text: 'q?', options: ['yes'] }], why: '1 question open' },
    ],
    ['not what is answered', [blocked('a')], asks('q', { answer: 'yes' }), {}, { next: 'finish', outcome: 'failed' }],
    [
      'of a login only while work is left',
      [stateOf('a', {}, endedAs('done'))],
      asks('engine/auth/codex'),
      {},
      { next: 'finish', outcome: 'done', why: 'every task has ended' },
    ],
    ['of all else in any case', [stateOf('a', {}, endedAs('done'))], asks('engine/setup'), {}, { next: 'ask' }],
    ['of a login while work is left', [blocked('a')], asks('engine/auth/codex'), {}, { next: 'ask' }],
    [
      'waits for a paused task',
      [stateOf('a')],
      paused('pause', 'task/a'),
      {},
      waits('a is paused by ada', { suspended: true }),
    ],
    [
      'gives up on what cannot start',
      [stateOf('a', {}, endedAs('failed')), stateOf('b', { needs: ['a'] }), stateOf('c', { needs: ['a'] })],
      {},
      {},
      { next: 'finish', outcome: 'failed', why: 'b, c cannot start: tasks that they need have failed' },
    ],
    [
      'or has nobody to do it',
      [stateOf('a', { role: 'tester' })],
      {},
      {},
      { next: 'finish', outcome: 'failed', why: expect.stringContaining('tester') as string },
    ],
    [
      'fails where tasks failed',
      [
        stateOf('a', {}, endedAs('failed', { why: 'no commit was made' })),
        stateOf('b', {}, endedAs('failed', { why: 'rejected' })),
        stateOf('c', {}, endedAs('done')),
      ],
      {},
      {},
      { next: 'finish', outcome: 'failed', why: 'a: no commit was made\nb: rejected' },
    ],
    [
      'fails tasks at their limit first',
      [stateOf('a'), stateOf('b')],
      {},
      { room: { agent: () => undefined, task: (id) => `${id}: all used` } },
      {
        next: 'start',
        starts: [],
        integrate: null,
        why: 'a fails: the task has reached its limit (a: all used); b fails: the task has reached its limit (b: all used)',
      },
    ],
  ])('it %s', (_, states, more, facts, next) => {
    expect(decideNext({ ...boardWith(states), ...more }, { ...FREE, ...facts })).toMatchObject(next);
  });
});

describe('a run that may start nothing', () => {
  it.each<Row>([
    ['paused', [stateOf('a')], paused('pause'), {}, waits('paused by ada', { suspended: true })],
    [
      'paused, and its engine is to stop',
      [],
      paused('pause'),
      { draining: true },
      { because: 'drained', why: 'paused by ada' },
    ],
    ['drained', [stateOf('a')], paused('drain'), {}, { next: 'stop', because: 'drained', why: 'drained by ada' }],
    ['stopped', [stateOf('a')], paused('stop'), {}, { next: 'stop', because: 'drained', why: 'stopped by ada' }],
    ['asked to stop', [stateOf('a')], {}, { draining: true }, { because: 'drained', why: 'the run was asked to stop' }],
    ['at a limit', [stateOf('a')], {}, LIMIT, { next: 'stop', because: 'limit', why: 'usd: 1 of 1 used' }],
    ['not integrating either, where a person stopped it', [queued('a', 1)], paused('stop'), {}, { next: 'stop' }],
    ['still integrating at a limit', [queued('a', 1)], {}, LIMIT, { next: 'start', starts: [], integrate: 'a' }],
    ['still waiting for what is live', [live('a')], paused('stop'), {}, waits('1 attempt live')],
    [
      'failing no task at its limit',
      [stateOf('a')],
      {},
      { ...LIMIT, room: { agent: () => undefined, task: () => 'all used' } },
      { next: 'stop', because: 'limit' },
    ],
  ])('%s', (_, states, more, facts, next) => {
    expect(decideNext({ ...boardWith(states), ...more }, { ...FREE, ...facts })).toMatchObject(next);
  });

  it.each<[string, number, object]>([
    [
      'past its deadline',
      2_000,
      {
        because: 'deadline',
        why: expect.stringMatching(/^the deadline .* has passed; no turn starts after it$/) as string,
      },
    ],
    ['but before it', 1_999, { next: 'start' }],
  ])('%s', (_, now, next) => {
    const board = boardWith([stateOf('a')]);
    const objective = { ...board.facts.objective, deadline: 2_000 };
    expect(decideNext({ ...board, facts: { ...board.facts, objective } }, { ...FREE, now })).toMatchObject(next);
  });

  it('still integrates past its deadline', () => {
    const board = boardWith([queued('a', 1)]);
    const objective = { ...board.facts.objective, deadline: 500 };
    expect(decideNext({ ...board, facts: { ...board.facts, objective } }, FREE)).toMatchObject({ integrate: 'a' });
  });
});

describe('a run that has finished', () => {
  it.each<Row>([
    ['ends', [], FINISHED, {}, { next: 'finish', outcome: 'failed', why: 'it broke' }],
    ['waits for its turns', [live('a')], FINISHED, {}, waits('1 attempt to be stopped')],
    ['all of them', [live('a'), live('b')], FINISHED, {}, waits('2 attempts to be stopped')],
    ['waits for what is delivered', [at('a', ADVANCING)], FINISHED, {}, waits('a delivery is under way')],
    ['reads its mail first', [], FINISHED, { pendingMail: 1 }, waits('mail came in')],
    [
      'stays while it is paused',
      [],
      { ...FINISHED, ...paused('pause') },
      {},
      waits('paused by ada', { suspended: true }),
    ],
    ['ends at a limit too', [], FINISHED, LIMIT, { next: 'finish', outcome: 'failed' }],
  ])('%s', (_, states, more, facts, next) => {
    expect(decideNext({ ...boardWith(states), ...more }, { ...FREE, ...facts })).toMatchObject(next);
  });
});
