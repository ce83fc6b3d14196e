import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/text/json.ts';
import type { Board, Member, RunFacts } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import { createPlaybook } from '../../src/playbooks/registry.ts';
import { withDeliveryList } from '../support/delivery-list.ts';
import {
  factsOf,
  integratedTasks,
  member,
  rejects,
  simulate,
  type Played,
  type Script,
  type Turn,
} from './simulator.ts';

// Work that comes by mail into a run that goes by a plan: as good as planned work, and never behind the last look.

const PLANNER = member('ada', 'planner');
const BOB = member('bob', 'builder');
const SCRIBE = member('sue', 'scribe');
const REVIEWER = member('rex', 'reviewer');
const TESTER = member('tim', 'tester');
const TEAM = [PLANNER, BOB, SCRIBE, REVIEWER, TESTER];
const CRITERION = { text: 'it works', command: 'true' };

const piece = (id: string, role = 'builder'): Json => {
  return { id, title: `Do ${id}`, role, needs: [], brief: `Build ${id}.`, acceptance: [`${id} works`] };
};
const report = (passed: boolean): Json => ({ passed, summary: passed ? 'works' : 'a is gone', failures: [] });

type Mail = Extract<PlanNews, { type: 'mail' }>;

function handOff(more: Partial<Mail> = {}): Mail {
  const body = { task_type: 'hand-off', files: ['a.txt'], success_criteria: ['it is short'], dependencies: [] };
  const about = { type: 'mail', id: 'sess-1-9', from: 'tim', to: ['scribe'], kind: 'ask', action: 'assign' } as const;
  return { ...about, to: ['scribe'], task: 'TIDY-1', via: 'a-test', body, ...more };
}

function play(
  script: Script & { plan?: Json },
  roster: readonly Member[] = TEAM,
  more: Partial<RunFacts> = {},
): Played {
  const objective = { title: 'Try', goals: [], criteria: [CRITERION], constraints: [], context: '', text: 'Build it.' };
  const facts = withDeliveryList(factsOf(roster, { objective, verifies: false, ...more }));
  const playbook = createPlaybook({}, 'delivery');
  const parsed = playbook?.parse(facts);
  if (playbook === undefined || parsed?.ok !== true) throw new Error('no playbook');
  const turn = (one: Turn, board: Board) =>
    script.turn?.(one, board) ??
    (one.task === 'plan'
      ? { output: script.plan ?? { summary: '', tasks: [piece('a')] } }
      : one.agent === 'tim'
        ? { output: report(true) }
        : undefined);
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script: { ...script, turn } });
}

/** Each comes in once, as soon as its moment is there. */
function posting(...letters: readonly [(board: Board) => boolean, PlanNews][]): Pick<Script, 'outside'> {
  const left = [...letters];
  return {
    outside: (board) => {
      const index = left.findIndex(([when]) => when(board));
      return index < 0 ? undefined : left.splice(index, 1)[0]?.[1];
    },
  };
}

const at = (task: string, phase: string) => (board: Board) => board.tasks.get(task)?.work.phase.at === phase;
const live = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';
const taskOf = ({ board }: Played, id: string) => board.tasks.get(id)?.task;
const sent = (played: Played) => played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));
const order = (played: Played) => played.events.flatMap((one) => (one.type === 'task-done' ? [one.task] : []));

describe('a hand-off while its piece is tested', () => {
  const played = play(posting([live('a-test'), handOff()]));

  it('is reviewed and tested like a planned piece, by what its message asks for', () => {
    expect(taskOf(played, 'mail-9-scribe')).toMatchObject({
      role: 'scribe',
      integrate: true,
      requires: [{ kind: 'commit' }, { kind: 'diff' }],
      review: { by: ['reviewer'], rounds: 4 },
      brief: { mail: ['sess-1-9'] },
    });
    expect(taskOf(played, 'mail-9-scribe')?.review?.criteria.join()).toMatch(/what the message asks for[^]*it works/);
    expect(played.turns.filter(({ task }) => task === 'mail-9-scribe').map(({ agent }) => agent)).toEqual([
      'sue',
      'rex',
    ]);
    expect(taskOf(played, 'mail-9-scribe-test')).toMatchObject({ role: 'tester', needs: ['mail-9-scribe'] });
  });

  it('is looked at by the tester together with what was tested before', () => {
    const brief = taskOf(played, 'mail-9-scribe-test')?.brief;
    expect(brief?.text).toMatch(/Also repeat these earlier tests[^]*a works/);
    expect(brief?.mail).toEqual(['sess-1-9']);
  });

  it('is delivered and tested before the end', () => {
    expect(order(played).at(-1)).toBe('mail-9-scribe-test');
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });

  it('is reported as delivered by its agent, once', () => {
    expect(sent(played)).toMatchObject([{ from: 'sue', to: ['tim'], type: 'done', corr: 'sess-1-9' }]);
  });
});

it('what the tester finds broken goes back to whoever was handed the work', () => {
  let tests = 0;
  const played = play({
    ...posting([live('a-test'), handOff()]),
    turn: ({ task }) => {
      if (task !== 'mail-9-scribe-test') return undefined;
      tests += 1;
      return { output: report(tests > 1) };
    },
  });
  const rounds = [...played.board.tasks.values()].map(({ task, work }) => `${task.id} ${work.round}`);
  expect(rounds).toEqual(['plan 1', 'a 1', 'a-test 1', 'mail-9-scribe 2', 'mail-9-scribe-test 2']);
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it('a review that rejects it keeps it from the run branch', () => {
  const played = play({
    ...posting([live('a-test'), handOff()]),
    turn: ({ task, review }) => (task === 'mail-9-scribe' && review !== null ? rejects('a.txt is gone') : undefined),
  });
  expect(played.end).toMatchObject({ outcome: 'failed' });
  expect(integratedTasks(played)).not.toContain('mail-9-scribe');
  expect(sent(played)).toMatchObject([{ from: 'sue', type: 'fail', corr: 'sess-1-9' }]);
});

it('work that comes while the end is checked makes that void, and is delivered first', () => {
  const late = handOff({ from: 'MAIN', via: undefined });
  const played = play(posting([(board) => board.gate.at === 'checking', late]));
  expect(order(played).slice(-2)).toEqual(['mail-9-scribe', 'mail-9-scribe-test']);
  expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  expect(played.board.gate.facts?.head).toBe(played.board.branch.head);
});

it('work that comes after the end is refused, and whoever sent it hears that', () => {
  const over = (board: Board) => board.finished !== null;
  const played = play(posting([over, handOff({ from: 'MAIN', via: undefined })]));
  expect(sent(played)).toMatchObject([{ from: 'ROUTER', to: ['MAIN'], type: 'fail', corr: 'sess-1-9' }]);
  expect(sent(played)[0]?.body['reason']).toBe('the run has finished');
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it('work that comes while the plan is made is delivered as well', () => {
  const played = play(posting([live('plan'), handOff({ from: 'MAIN', via: undefined })]));
  expect(order(played)).toEqual(expect.arrayContaining(['a', 'a-test', 'mail-9-scribe', 'mail-9-scribe-test']));
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it('an answer of MAIN that may change the documentation is reviewed for whether it agrees with the code', () => {
  const ask = handOff({
    id: 'sess-1-7',
    from: 'bob',
    to: ['MAIN'],
    action: 'clarify',
    via: 'a',
    body: { question: 'which?' },
  });
  const played = play(posting([live('a'), ask]), [{ ...PLANNER, role: 'main' }, ...TEAM.slice(1)]);
  const [first, ...others] = taskOf(played, 'answer-7-ada')?.review?.criteria ?? [];
  expect(first).toBe('its answer agrees with the code');
  expect(others.join()).toMatch(/what was delivered before[^]*it works/);
});

it.each(['reviewer', 'tester', 'planner'])('a %s that is handed work looks, and delivers nothing', (role) => {
  const played = play(posting([live('a'), handOff({ from: 'bob', via: 'a', to: [role] })]));
  const [handed] = [...played.board.tasks.values()].filter(({ task }) => task.id.startsWith('mail-'));
  expect(handed?.task).toMatchObject({ role, integrate: false, requires: [], workspace: { read: 'run' } });
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it('what whoever is handed it cannot commit goes on to the committer', () => {
  const roster = [PLANNER, BOB, { ...SCRIBE, commits: false }, REVIEWER, member('cam', 'committer'), TESTER];
  const played = play(posting([live('a-test'), handOff()]), roster);
  expect(taskOf(played, 'mail-9-scribe')).toMatchObject({ integrate: false, requires: [{ kind: 'diff' }] });
  expect(taskOf(played, 'mail-9-scribe-commit')).toMatchObject({ base: 'mail-9-scribe', integrate: true });
  expect(taskOf(played, 'mail-9-scribe-test')?.needs).toEqual(['mail-9-scribe-commit']);
  // Its end is told once it is delivered, by whoever was asked.
  expect(sent(played)).toMatchObject([{ from: 'sue', type: 'done', corr: 'sess-1-9' }]);
});

describe('a task that is another agent’s', () => {
  const plan: Json = { summary: '', tasks: [piece('a'), piece('b', 'scribe')] };

  it('cannot be handed on, and the refusal says what can', () => {
    const played = play({ plan, ...posting([live('a'), handOff({ from: 'bob', via: 'a', task: 'b' })]) });
    expect(sent(played)).toMatchObject([{ from: 'ROUTER', to: ['bob'], type: 'fail', corr: 'sess-1-9' }]);
    expect(sent(played)[0]?.body['reason']).toBe(
      'b is not a task of bob, who may hand on or assign a or a new task; if b has to change, send a message to MAIN or to the agent that has it',
    );
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('is no reviewer’s either, while it reviews it', () => {
    const reviewed = (board: Board) => at('a', 'reviewing')(board);
    const played = play({ plan, ...posting([reviewed, handOff({ from: 'rex', via: 'a', task: 'a' })]) });
    expect(sent(played)).toMatchObject([{ from: 'ROUTER', to: ['rex'], type: 'fail' }]);
  });

  it.each([
    ['its own', handOff({ from: 'bob', via: 'a', task: 'a' })],
    ['a new one', handOff({ from: 'bob', via: 'a', task: 'TIDY-2' })],
    ['any, if MAIN does', handOff({ from: 'MAIN', via: 'a', task: 'b' })],
    ['any, if a person does', handOff({ from: 'MAIN', via: undefined, task: 'b' })],
  ])('but %s can', (_title, mail) => {
    const played = play({ plan, ...posting([live('a'), mail]) });
    expect(taskOf(played, 'mail-9-scribe')).toBeDefined();
  });

  it('is its own if it was handed to it', () => {
    const on = handOff({ id: 'sess-1-12', from: 'sue', via: 'mail-9-scribe', to: ['builder'] });
    const played = play({
      plan,
      ...posting([live('a'), handOff({ from: 'bob', via: 'a' })], [live('mail-9-scribe'), on]),
    });
    expect(taskOf(played, 'mail-12-builder')).toMatchObject({ needs: ['mail-9-scribe'] });
  });
});

it('as deep as hand-offs go, each with its test; the next one is refused and nothing else is lost', () => {
  const next = (id: number, via: string) => handOff({ id: `sess-1-${id}`, from: 'sue', via, task: `T-${id}` });
  const played = play(
    posting(
      [live('a'), handOff({ from: 'bob', via: 'a' })],
      [live('mail-9-scribe'), next(10, 'mail-9-scribe')],
      [live('mail-10-scribe'), next(11, 'mail-10-scribe')],
      [live('mail-11-scribe'), next(12, 'mail-11-scribe')],
    ),
  );
  const fails = sent(played).filter(({ type }) => type === 'fail');
  expect(fails).toMatchObject([{ from: 'ROUTER', corr: 'sess-1-12' }]);
  expect(played.end).toMatchObject({ outcome: 'done' });
  expect(taskOf(played, 'mail-11-scribe-test')).toBeDefined();
});
