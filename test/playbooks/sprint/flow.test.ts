import { describe, expect, it } from 'vitest';
import type { Board } from '../../../src/model/plan/board.ts';
import { createView } from '../../../src/rules/view.ts';
import type { PlanNews } from '../../../src/model/plan/event.ts';
import type { Json } from '../../../src/text/json.ts';
import { ALL_FIXED } from '../../support/findings.ts';
import * as says from '../../support/sprint-script.ts';
import { failed } from '../simulator.ts';
import {
  APPROVES,
  itemState,
  playSprint,
  progressIn,
  rejectsFor,
  SPRINT_TEAM,
  todoStates,
  turnsOf,
  WITH_COMMITTER,
} from './support.ts';

const UNCHANGED = { commit: null, commits: 0, changedPaths: [] };
/** Without a change of the developer in its first turns. */
const unchanged = (...tasks: string[]) => ({
  evidence: (id: string) => {
    const at = tasks.indexOf(id);
    if (at < 0) return undefined;
    tasks.splice(at, 1);
    return UNCHANGED;
  },
});
/** One piece of news, once `when` holds. */
const once = (when: (board: Board) => boolean, news: PlanNews) => {
  let isPosted = false;
  return (board: Board): PlanNews | undefined => {
    if (isPosted || !when(board)) return undefined;
    isPosted = true;
    return news;
  };
};
const isLive = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';

describe('the planning of a sprint', () => {
  it('does a phase once more when its planner asks for it, at most three times', () => {
    const more = says.answer({
      ...{ role: 'planner', request: says.SPRINT_ID },
      proposals: { attachments_read: [], backlog_writes: [], workflow_transition: says.transition('continue') },
    });
    const twice = playSprint({ answers: { priorities: [more, more, says.backlog()] } });
    expect(twice.board.finished?.outcome).toBe('done');
    expect(turnsOf(twice).filter((one) => one === 'priorities')).toHaveLength(3);
    const endless = playSprint({ answers: { priorities: [more] } });
    expect(endless.board.finished?.outcome).toBe('failed');
    const repairs = endless.turns.filter(({ prompt }) => prompt.why === 'repair');
    expect(repairs[0]?.prompt).toMatchObject({ text: expect.stringContaining('has been done 3 times') });
  });

  it.each([
    ['chooses no todo', says.todos(), 'planning_incomplete: its planner chose no todo: because it is so'],
    [
      'needs a person',
      says.answer({
        ...{ role: 'planner', request: says.SPRINT_ID },
        proposals: { attachments_read: [], todos: [], workflow_transition: says.block('a price') },
      }),
      'planning_incomplete: because it is so; required inputs: a price; next: ask for it',
    ],
  ])('blocks a sprint whose planner %s', (_, answer, reason) => {
    const played = playSprint({ answers: { todos: [answer] } });
    expect(played.board.finished).toMatchObject({ outcome: 'failed', why: `the sprint is blocked: ${reason}` });
    expect(progressIn(played)).toMatchObject({ state: 'blocked', reason, todos: [] });
    expect(turnsOf(played).at(-1)).toBe('todos');
  });

  it('lets no phase block before each attachment is named as read', () => {
    const attachments = [{ id: 'a1', name: 'sketch.png', bytes: 10, sha256: 'a'.repeat(64) }];
    const blocked = (...read: string[]) =>
      says.answer({
        ...{ role: 'planner', request: says.SPRINT_ID },
        proposals: { attachments_read: read, todos: [], workflow_transition: says.block('a price') },
      });
    const kickoff = { ...says.sprintOptions().kickoff, attachments };
    const played = playSprint({ options: { kickoff }, answers: { todos: [blocked(), blocked('sketch.png')] } });
    expect(played.turns.find(({ prompt }) => prompt.why === 'repair')?.prompt).toMatchObject({
      text: expect.stringContaining('read these attachments first, and name them in `attachments_read`: sketch.png'),
    });
    expect(progressIn(played).state).toBe('blocked');
  });

  it('asks a person for the todos, and begins with none before the answer', () => {
    const asked: string[] = [];
    const said = ['one todo is enough', 'approve'];
    const played = playSprint({
      options: { approve: 'todos', estimate: 'about 20 minutes' },
      answers: {
        todos: [says.todos(says.todo('b-one'), says.todo('b-two'))],
        'todos-2': [says.todos(says.todo('b-two'))],
      },
      script: {
        answer: ({ text }) => {
          asked.push(text);
          return said.shift();
        },
      },
    });
    expect(asked[0]).toContain('How long it may take: about 20 minutes.');
    expect(asked[0]).toContain('"item": "b-one"');
    expect(played.board.finished?.outcome).toBe('done');
    expect(todoStates(played)).toEqual(['b-two committed']);
  });

  it('is blocked and says so when no one approves before its time is over', () => {
    const played = playSprint({
      options: { approve: 'todos', until: 2_000_000 },
      script: {
        outside: once(({ questions }) => [...questions.values()].length > 0, { type: 'timer', id: 'sprint-cutoff' }),
      },
    });
    expect(progressIn(played)).toMatchObject({
      ...{ state: 'blocked', reason: 'no one approved its todos before its time was over', todos: [] },
    });
  });
});

describe('a todo', () => {
  it('that its planner completes is not built', () => {
    const played = playSprint({ answers: { 'b-one': [says.planned('b-one', says.transition('complete'))] } });
    expect(played.board.finished?.outcome).toBe('done');
    expect(todoStates(played)).toEqual(['b-one completed', 'b-two committed']);
    expect(turnsOf(played).filter((one) => one.startsWith('b-one'))).toEqual(['b-one']);
    expect(itemState(played, 'b-one')).toMatchObject({ state: 'done', completed_in_sprint_id: says.SPRINT_ID });
  });

  it('that changes nothing is completed without a commit', () => {
    const played = playSprint({ script: unchanged('b-one-build') });
    expect(todoStates(played)).toEqual(['b-one completed', 'b-two committed']);
    expect(progressIn(played).todos[0]).not.toHaveProperty('commit');
    expect(itemState(played, 'b-one')).not.toHaveProperty('commit');
  });

  it.each([
    ['planner', { 'b-one': [says.planned('b-one', says.block('a price'))] }],
    ['architect', { 'b-one-guide': [says.guidance('b-one', says.block('a price'))] }],
    ['developer', { 'b-one-build': [says.built('b-one', says.block('a price'))] }],
    ['qa', { 'b-one-build/qa': [rejectsFor('blocked', 'a price')] }],
  ])('that %s blocks puts its item back, with what it waits for', (role, answers) => {
    const played = playSprint({ answers, script: role === 'developer' ? unchanged('b-one-build') : {} });
    expect(played.board.finished?.outcome).toBe('done');
    expect(todoStates(played)).toEqual(['b-one blocked', 'b-two committed']);
    expect(itemState(played, 'b-one')).toMatchObject({
      ...{ state: 'blocked', blocked_by_role: role, required_inputs: ['a price'], recommended_next_step: 'ask for it' },
    });
    expect(itemState(played, 'b-one').blocked_reason).toMatch(/because it is so|no blocked/);
    expect(turnsOf(played).at(-1)).toBe('report');
  });

  it.each([
    ['architect', 'scope', ['b-one', 'b-one-guide', 'b-one', 'b-one-guide', 'b-one-build']],
    ['architect', 'ux', ['b-one', 'b-one-guide', 'b-one', 'b-one-guide', 'b-one-build']],
    ['developer', 'scope', ['b-one', 'b-one-guide', 'b-one-build', 'b-one', 'b-one-guide', 'b-one-build']],
    ['developer', 'architecture', ['b-one', 'b-one-guide', 'b-one-build', 'b-one-guide', 'b-one-build']],
  ])('that %s reopens for its %s begins there again', (role, category, expected) => {
    const asked = says.reopen(category);
    const answers =
      role === 'architect'
        ? { 'b-one-guide': [says.guidance('b-one', asked), says.guidance('b-one')] }
        : { 'b-one-build': [says.built('b-one', asked), says.built('b-one')] };
    const played = playSprint({
      ...{ items: ['b-one'], answers },
      script: role === 'developer' ? unchanged('b-one-build') : {},
    });
    expect(turnsOf(played).filter((one) => /^b-one(?!.*\/)/.test(one))).toEqual(expected);
    expect(todoStates(played)).toEqual(['b-one committed']);
    expect(progressIn(played).todos[0]?.reopened).toEqual({ [category]: 1 });
  });

  it('that is blocked leaves the stages done that others went through', () => {
    const { playbook, board } = playSprint({ answers: { 'b-one': [says.planned('b-one', says.block('a price'))] } });
    const states = (playbook.stages?.(createView(board)) ?? []).map(({ id, state }) => `${id} ${state}`);
    expect(states.slice(6, 11)).toEqual([
      ...['PLAN_TODO done', 'GUIDE done', 'BUILD done', 'ARCHITECT_REVIEW done', 'QA done'],
    ]);
    const all = playSprint({ items: ['b-one'], answers: { 'b-one': [says.planned('b-one', says.block('a price'))] } });
    const none = (all.playbook.stages?.(createView(all.board)) ?? []).map(({ id, state }) => `${id} ${state}`);
    expect(none.slice(6, 9)).toEqual(['PLAN_TODO skipped', 'GUIDE skipped', 'BUILD skipped']);
  });

  it('counts the reopenings of its authors with the rounds of its reviews', () => {
    const played = playSprint({
      ...{ items: ['b-one'], answers: { 'b-one-guide': [says.guidance('b-one', says.reopen('scope'))] } },
    });
    expect(todoStates(played)).toEqual(['b-one failed']);
    expect(progressIn(played).todos[0]?.why).toContain('it has used its 4 rounds');
    expect(itemState(played, 'b-one').state).toBe('carried_over');
  });

  it('for which documents of the planner are handed in begins again with its scope', () => {
    const handed = says.built('b-one', says.transition('advance'), { artifacts: ['docs/squad/try/spec.md'] });
    const played = playSprint({
      ...{ items: ['b-one'], answers: { 'b-one-build': [handed, says.built('b-one')] } },
      script: unchanged('b-one-build'),
    });
    expect(progressIn(played).todos).toMatchObject([{ state: 'committed', reopened: { scope: 1 } }]);
  });

  it('for which other files are handed in, too, is not opened again', () => {
    const artifacts = ['docs/squad/try/spec.md', 'src/a.ts'];
    const handed = says.built('b-one', says.transition('advance'), { artifacts });
    const played = playSprint({
      ...{ items: ['b-one'], answers: { 'b-one-build': [handed] } },
      script: unchanged('b-one-build'),
    });
    expect(todoStates(played)).toEqual(['b-one completed']);
    expect(progressIn(played).todos[0]).not.toHaveProperty('reopened');
  });

  it('whose work fails does not hold up the others', () => {
    const played = playSprint({
      items: ['b-one', 'b-two', 'b-three'],
      answers: {
        todos: [says.todos(says.todo('b-one'), says.todo('b-two', { needs: ['b-one'] }), says.todo('b-three'))],
        'b-one-build/architect': [rejectsFor('implementation')],
      },
    });
    expect(played.board.finished?.outcome).toBe('done');
    expect(todoStates(played)).toEqual(['b-one failed', 'b-three committed', 'b-two carried_over']);
    expect(itemState(played, 'b-one').state).toBe('carried_over');
    expect(itemState(played, 'b-two').state).toBe('carried_over');
  });

  it('whose commit fails is tried once more after all others, and then carried over', () => {
    const tries = (count: number) => {
      let left = count;
      return playSprint({
        roster: WITH_COMMITTER,
        script: {
          turn: ({ task, review }) => {
            if (task !== 'b-one-commit' || review !== null || left <= 0) return undefined;
            left -= 1;
            return failed('bad-request');
          },
        },
      });
    };
    const once = tries(1);
    expect(todoStates(once)).toEqual(['b-one committed', 'b-two committed']);
    const order = once.events.flatMap((event) =>
      'task' in event && event.task !== undefined ? [`${event.type} ${event.task}`] : [],
    );
    expect(order.indexOf('task-failed b-one-commit')).toBeLessThan(order.indexOf('task-done b-two-commit'));
    expect(order.indexOf('task-done b-one-commit')).toBeGreaterThan(order.indexOf('task-done b-two-commit'));
    expect(turnsOf(once).at(-1)).toBe('report');
    const never = tries(99);
    expect(todoStates(never)).toEqual(['b-one uncommitted', 'b-two committed']);
    expect(itemState(never, 'b-one').state).toBe('carried_over');
    expect(turnsOf(never).at(-1)).toBe('report');
  });
});

describe('the commit of a todo', () => {
  const POLICY = '```commit-policy\nbegins: type\n```';
  const good = says.committed('b-one', 'feat: make b-one');
  const play = (made: string[], commitPolicy = POLICY) => {
    const answers = { 'b-one-commit': [good] };
    const evidence = (id: string) => (id === 'b-one-commit' ? { subjects: [made.shift() ?? 'WIP'] } : undefined);
    return playSprint({
      ...{ items: ['b-one'], roster: WITH_COMMITTER, options: { commitPolicy }, answers },
      script: { evidence },
    });
  };

  it.each([
    ['breaks the policy', POLICY, 'WIP', 'breaks the commit policy'],
    ['is longer than squad allows without a policy', '', 'x'.repeat(73), 'at most 72 are allowed'],
    ['has another subject than its author says', POLICY, 'feat: other', 'both have to be the same'],
  ])('goes back to its author where it %s, and lands once it does not', (_, policy, made, why) => {
    const played = play([made, 'feat: make b-one'], policy);
    expect(todoStates(played)).toEqual(['b-one committed']);
    expect(JSON.stringify(played.turns)).toContain(why);
  });

  it('does not land as it is if it never follows the policy', () => {
    const played = play([]);
    expect(todoStates(played)).toEqual(['b-one uncommitted']);
    expect(progressIn(played).todos[0]?.why).toContain('breaks the commit policy');
    expect(itemState(played, 'b-one').state).toBe('carried_over');
  });

  it('is looked at where the developer made it, too', () => {
    const subjects = ['WIP', 'feat: make b-one'];
    const played = playSprint({
      ...{ items: ['b-one'], options: { commitPolicy: POLICY } },
      script: { evidence: (id) => (id === 'b-one-build' ? { subjects: [subjects.shift() ?? ''] } : undefined) },
    });
    expect(todoStates(played)).toEqual(['b-one committed']);
    expect(JSON.stringify(played.turns)).toContain('breaks the commit policy');
  });
});

describe('a sprint that wraps up', () => {
  const items = ['b-one', 'b-two', 'b-three'];

  it('begins no more todos when its time is over, lets those at work finish, and reports', () => {
    const played = playSprint({
      ...{ items, options: { until: 5_000_000 } },
      script: { outside: once(isLive('b-one-guide'), { type: 'timer', id: 'sprint-cutoff' }) },
    });
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed', 'b-three carried_over']);
    expect(itemState(played, 'b-three')).toMatchObject({ state: 'carried_over' });
    expect(progressIn(played).state).toBe('completed');
    const states = played.steps.map(({ board }) => progressIn({ playbook: played.playbook, board }).state);
    expect(states.filter((state, at) => state !== states[at - 1])).toEqual([
      'planning',
      'running',
      'wrap_up',
      'completed',
    ]);
  });

  it('does the same for a person who skips the todos that wait, and ends one at work that is skipped', () => {
    const skip = (task: string): PlanNews => ({
      ...{ type: 'intervention', intervention: { verb: 'skip', task, why: 'the sprint stops' }, by: 'dana' },
    });
    const waits = playSprint({ items, script: { outside: once(isLive('b-one'), skip('b-three')) } });
    expect(todoStates(waits)).toEqual(['b-one committed', 'b-two committed', 'b-three carried_over']);
    const now = playSprint({ items, script: { outside: once(isLive('b-one-build'), skip('b-one-build')) } });
    expect(todoStates(now)).toEqual(['b-one carried_over', 'b-two committed', 'b-three committed']);
  });

  it('is blocked if its time is over while it is planned', () => {
    const played = playSprint({ script: { outside: once(isLive('backlog'), { type: 'timer', id: 'sprint-cutoff' }) } });
    expect(progressIn(played)).toMatchObject({
      state: 'blocked',
      reason: expect.stringMatching(/^planning_incomplete/),
    });
  });
});

describe('todos side by side', () => {
  it('let the second be with QA while the first is still being built', () => {
    let seen = false;
    const played = playSprint({
      script: {
        // The work on the first is always the last to happen.
        choose: (count) => count - 1,
        outside: (board) => {
          const first = board.tasks.get('b-one-build')?.work;
          const second = board.tasks.get('b-two-build')?.work;
          const isWithQa = second?.phase.at === 'reviewing' && second.phase.review === 1;
          if (first?.author.state.at === 'live' && isWithQa) seen = true;
          return undefined;
        },
      },
    });
    expect(seen).toBe(true);
    const builders = played.turns.filter(({ task, review }) => task.endsWith('-build') && review === null);
    expect(new Set(builders.map(({ agent }) => agent))).toEqual(new Set(['dev-1', 'dev-2']));
    expect(todoStates(played)).toEqual(['b-one committed', 'b-two committed']);
  });

  it('keep one session for each role that has one agent', () => {
    const { turns } = playSprint({ items: ['b-one', 'b-two', 'b-three'] });
    const keys = (role: string): Set<string> =>
      new Set(turns.flatMap(({ agent, session, review }) => (agent === role && review !== 'qa' ? [session.key] : [])));
    expect(keys('planner').size).toBe(1);
    expect(keys('architect').size).toBe(1);
    expect(SPRINT_TEAM.filter(({ role }) => role === 'developer')).toHaveLength(2);
  });
});

const AGREES: Json = { ...(APPROVES as Record<string, Json>), settled: ALL_FIXED };

it.each<[string, Json[], Json[], string[]]>([
  ['once where both reviews approve', [APPROVES], [APPROVES], ['', '/architect', '/qa']],
  [
    'again before QA sees it where the architect finds something',
    [rejectsFor('implementation'), AGREES],
    [APPROVES],
    ['', '/architect', '', '/architect', '/qa'],
  ],
  [
    'again where QA finds something',
    [APPROVES],
    [rejectsFor('verification'), AGREES],
    ['', '/architect', '/qa', '', '/architect', '/qa'],
  ],
])('a developer builds %s', (_, architect, qa, expected) => {
  const answers = { 'b-one-build/architect': architect, 'b-one-build/qa': qa };
  const played = playSprint({ items: ['b-one'], answers });
  expect(turnsOf(played).filter((one) => one.startsWith('b-one-build'))).toEqual(
    expected.map((by) => `b-one-build${by}`),
  );
  expect(todoStates(played)).toEqual(['b-one committed']);
});
