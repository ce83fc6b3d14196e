import { expect, it } from 'vitest';
import { createView } from '../../src/rules/view.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, MailView, TaskState } from '../../src/model/plan/board.ts';
import type { AgentRequest, Phase, ReviewSlot } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, liveRequest, stateOf } from './support.ts';

const slot = (role: string, request: Partial<AgentRequest>): ReviewSlot => ({
  ...{ role, answer: null, tried: [], request: { ...newWork().author, ...request } },
});
const queuedBy = (agent: string): Partial<AgentRequest> => ({ thread: { key: 'k', agent } });
const reviewing = (...slots: ReviewSlot[]): Phase => ({ at: 'reviewing', commit: 'c', slots });
const round = (...agents: string[]) => ({
  ...{ round: 1, commit: 'c', approved: true, feedback: '', findings: [] },
  by: agents.map((agent) => ({ role: 'reviewer', agent, approved: true })),
});
const mail = (id: string, more: Partial<MailView> = {}): MailView => ({
  ...{ id, from: 'bob', to: ['MAIN'], type: 'ask', body: {}, at: 1, owes: [] },
  ...more,
});

const STATES: readonly TaskState[] = [
  stateOf('a', { parent: 'p' }, { author: liveRequest('a-1') }),
  stateOf('b', { role: 'tester', kind: 'check' }, endedAs('done')),
  stateOf('c', {}, endedAs('failed')),
  stateOf('judge', { owner: 'engine' }),
];

const ids = (board: Board, where?: Parameters<ReturnType<typeof createView>['tasks']>[0]): string[] =>
  createView(board)
    .tasks(where)
    .map(({ id }) => id);

it.each<[Parameters<typeof ids>[1], string[]]>([
  [undefined, ['a', 'b', 'c']],
  [{}, ['a', 'b', 'c']],
  [{ ended: true }, ['b', 'c']],
  [{ ended: false }, ['a']],
  [{ status: 'live' }, ['a']],
  [{ status: 'failed' }, ['c']],
  [{ role: 'tester' }, ['b']],
  [{ parent: 'p' }, ['a']],
  [{ kind: 'check' }, ['b']],
  [{ role: 'builder', ended: true }, ['c']],
])('tasks of a playbook, where %j', (where, expected) => expect(ids(boardWith(STATES), where)).toEqual(expected));

it('a task of the engine is not there, and neither is one that nobody planned', () => {
  const view = createView(boardWith(STATES));
  expect([view.task('judge'), view.task('zed'), view.task('b')?.id]).toEqual([undefined, undefined, 'b']);
});

it('a task shows what came of it, and only that', () => {
  const fresh = createView(boardWith([stateOf('a')])).task('a');
  for (const key of ['commit', 'answer', 'doneBy', 'acceptedBy', 'why', 'cause']) expect(fresh).not.toHaveProperty(key);
  const ended = stateOf(
    'a',
    {},
    {
      ...endedAs('done'),
      ...{ commit: 'c1', output: { ok: true }, followUps: ['later'], round: 2, attempts: 3, reviews: 1 },
      author: { ...newWork().author, thread: { key: 'k', agent: 'bob' } },
      override: { as: 'done', by: 'ada', why: '' },
      rounds: [round('rex'), round('rex', 'ann')],
    },
  );
  expect(createView(boardWith([ended])).task('a')).toEqual({
    ...ended.task,
    ...{ status: 'done', round: 2, rounds: ended.work.rounds, reviewers: ['rex', 'ann'], at: { added: 0 } },
    ...{ attempts: 2, followUps: ['later'], commit: 'c1', answer: { ok: true }, doneBy: 'bob', acceptedBy: 'ada' },
    why: 'it done',
  });
  expect(createView(boardWith([stateOf('a', {}, endedAs('failed'))])).task('a')).toMatchObject({
    ...{ why: 'it failed', cause: 'attempts' },
  });
  const skipped = stateOf('a', {}, { ...endedAs('skipped'), override: { as: 'skipped', by: 'ada', why: '' } });
  expect(createView(boardWith([skipped])).task('a')).not.toHaveProperty('acceptedBy');
});

it.each<[string, Partial<TaskState['work']>, string[]]>([
  ['nobody before its first review', {}, []],
  [
    'those who judge now',
    { phase: reviewing(slot('one', liveRequest('a-2', 'rex')), slot('two', queuedBy('ann'))) },
    ['rex'],
  ],
  ['nobody whose turn has not begun', { phase: reviewing(slot('one', { state: { at: 'waiting', until: 5 } })) }, []],
  ['those of the last round, once it is over', { rounds: [round('ann'), round('rex')] }, ['rex']],
])('the reviewers of a task are %s', (_, work, expected) => {
  expect(createView(boardWith([stateOf('a', {}, work)])).task('a')?.reviewers).toEqual(expected);
});

it('a task that has ended shows the same view again; one that has not, what it is now', () => {
  const [open, ended] = [stateOf('a'), stateOf('b', {}, endedAs('done'))];
  const board = boardWith([open, ended]);
  expect(createView(board).task('b')).toBe(createView(board).task('b'));
  const needing = stateOf('a', { needs: ['b'] });
  const waits = boardWith([needing, stateOf('b')]);
  expect(createView(waits).task('a')?.status).toBe('waiting');
  const same = { ...waits, tasks: waits.tasks.with({ ...waits.tasks.get('b')!, work: ended.work }) };
  expect(createView(same).task('a')?.status).toBe('ready');
});

it('an agent is busy while a turn of its own lives', () => {
  const { roster } = createView(boardWith([stateOf('a', {}, { author: liveRequest('a-1', 'bob') })]));
  expect(roster.map(({ name, busy }) => [name, busy])).toEqual([
    ['bob', true],
    ['rex', false],
  ]);
});

it('records are read by place and id', () => {
  const records = new Map([['stage', new Map([['a', 1]])]]);
  const view = createView({ ...boardWith([]), records });
  expect([view.record('stage', 'a'), view.record('stage', 'b'), view.record('none', 'a')]).toEqual([
    1,
    undefined,
    undefined,
  ]);
  expect([view.records('stage'), view.records('none')]).toEqual([[{ id: 'a', value: 1 }], []]);
});

it('mail is found by what is known of it, and by who owes an answer', () => {
  const all = [mail('1', { owes: ['MAIN', 'bob'] }), mail('2', { type: 'send', action: 'answer', re: '1', key: 'k' })];
  const view = createView({ ...boardWith([]), mail: new Map(all.map((one) => [one.id, one])) });
  const found = (where?: Parameters<typeof view.mail>[0]) => view.mail(where).map(({ id }) => id);
  expect([found(), found({ re: '1' }), found({ key: 'k', type: 'ask' }), found({ from: 'bob' })]).toEqual([
    ...[['1', '2'], ['2'], [], ['1', '2']],
  ]);
  const owing = (of?: string) => view.unanswered(of).map(({ id }) => id);
  expect([owing(), owing('bob'), owing('rex')]).toEqual([['1'], ['1'], []]);
});
