import { describe, expect, it } from 'vitest';
import { withMail } from '../../src/playbooks/shared/mail.ts';
import { NOT_WRITTEN } from '../../src/model/mail/effects.ts';
import { BUILT_IN_PLAYBOOKS } from '../../src/model/playbook-name.ts';
import { createPlaybook } from '../../src/playbooks/registry.ts';
import { finishWhenEnded } from '../../src/playbooks/shared/tasks.ts';
import type { Playbook } from '../../src/model/plan.ts';
import { DEFAULT_PLAN_LIMITS, type Board } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { newTask } from '../rules/support.ts';
import { factsOf, member, simulate, type Script } from './simulator.ts';

const CHIEF = member('chief', 'main');
const BOB = member('bob', 'builder');
const REX = member('rex', 'reviewer', { commits: false });
const ROSTER = [CHIEF, BOB, REX];

/** Ends when all has ended; beyond that only mail counts. */
const PLAIN: Playbook<unknown> = withMail({
  name: 'plain',
  roles: {},
  parse: () => ({ ok: true, input: null }),
  plan: () => [],
  advance: (view, event) => (event.type === 'task-done' || event.type === 'task-failed' ? finishWhenEnded(view) : []),
  tools: () => [],
});

type Mail = Extract<PlanNews, { type: 'mail' }>;

function mail(id: number, more: Partial<Mail>): Mail {
  const about = { type: 'mail', from: 'bob', to: ['MAIN'], kind: 'ask', body: {} } as const;
  return { ...about, to: [...about.to], id: `sess-1-${id}`, ...more };
}

function handOff(id: number, to: string, more: Partial<Mail> = {}): Mail {
  const body = { task_type: 'hand-off', files: ['src/a.ts'], success_criteria: ['it passes'], dependencies: [] };
  return mail(id, { to: [to], action: 'assign', via: 'a', body, ...more });
}

/** Brings in mail as soon as `when` holds, each message once. */
function posting(...letters: readonly [(board: Board) => boolean, PlanNews][]): Pick<Script, 'outside'> {
  const left = [...letters];
  return {
    outside: (board) => {
      const index = left.findIndex(([when]) => when(board));
      return index < 0 ? undefined : left.splice(index, 1)[0]?.[1];
    },
  };
}

const ended = (task: string) => (board: Board) => board.tasks.get(task)?.work.phase.at === 'ended';
const live = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';

function play(tasks: readonly NewTask[], script: Script, roster = ROSTER, locale: 'en' | 'zh' = 'en') {
  const plan = tasks.map((task) => ({ do: 'add-task', task }) as const);
  return simulate({ facts: factsOf(roster, { verifies: false, locale }), plan, playbook: PLAIN, script });
}

/** Open until `z` may end: what is tried out happens meanwhile. */
const OPEN = [newTask('a', { agent: 'bob' }), newTask('z', { agent: 'chief', needs: ['a'] })];

it('tasks that mail adds are titled in Chinese where the run speaks Chinese, and briefed in English', () => {
  const ask = mail(7, { action: 'clarify', via: 'a', task: 'a', body: { question: 'which?' } });
  const played = play(
    OPEN,
    posting([live('a'), ask], [live('z'), handOff(9, 'bob', { from: 'MAIN', via: 'z' })]),
    ROSTER,
    'zh',
  );
  const briefs = ['answer-7-chief', 'mail-9-builder'].map((id) => played.board.tasks.get(id)?.task);
  expect(briefs.map((task) => task?.title)).toEqual(['答复 bob', 'MAIN 移交的工作']);
  expect(briefs[0]?.brief.text).toContain('cannot continue: see your mail below');
  expect(briefs[1]?.brief.text).toContain('see the message sess-1-9 in your mail below');
});

describe('a hand-off', () => {
  it('to an agent that has finished resumes its session, with the mail', () => {
    const played = play(OPEN, posting([live('z'), handOff(9, 'bob', { from: 'MAIN', via: 'z' })]));
    const [first, , again] = played.turns;
    expect(again).toMatchObject({
      task: 'mail-9-builder',
      agent: 'bob',
      session: { key: first?.session.key, resume: true },
    });
    expect(played.board.tasks.get('mail-9-builder')?.task.brief.mail).toEqual(['sess-1-9']);
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });

  it('to a role that nobody has worked in begins a session', () => {
    const played = play(OPEN, posting([ended('a'), handOff(9, 'reviewer')]));
    const turn = played.turns.find(({ task }) => task === 'mail-9-reviewer');
    expect(turn).toMatchObject({ agent: 'rex', session: { resume: false } });
    // Its agent cannot commit: it looks, and delivers nothing.
    expect(played.board.tasks.get('mail-9-reviewer')?.task).toMatchObject({ integrate: false, requires: [] });
  });

  it('to nobody is refused with those there are', () => {
    const played = play(OPEN, posting([live('z'), handOff(9, 'nobody', { via: 'z' })]));
    const sent = played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));
    expect(sent).toMatchObject([{ type: 'fail', to: ['bob'], corr: 'sess-1-9' }]);
    expect(sent[0]?.body['reason']).toBe(
      'no agent or role is called nobody; there are MAIN, main, bob, builder, rex, reviewer',
    );
  });

  it('waits for what it hands on, and goes no deeper than a plan may', () => {
    const played = play(
      [newTask('a', { agent: 'bob' })],
      posting(
        [live('a'), handOff(9, 'builder')],
        [live('mail-9-builder'), handOff(10, 'builder', { via: 'mail-9-builder' })],
        [live('mail-10-builder'), handOff(11, 'builder', { via: 'mail-10-builder' })],
        [live('mail-11-builder'), handOff(12, 'builder', { via: 'mail-11-builder' })],
      ),
    );
    expect(played.turns.map(({ task }) => task)).toEqual(['a', 'mail-9-builder', 'mail-10-builder', 'mail-11-builder']);
    expect(played.effects).toContainEqual(
      expect.objectContaining({
        effect: 'send',
        message: expect.objectContaining({ type: 'fail', corr: 'sess-1-12' }),
      }),
    );
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
  });
});

describe('an assignment', () => {
  it('whose deadline is over has failed, whoever is at it', () => {
    const assign = handOff(9, 'bob', { from: 'MAIN', via: 'z', body: { task_type: 'implement' } });
    const overdue = { type: 'overdue', message: assign.id, to: 'bob', action: 'assign' } as const;
    const played = play(OPEN, posting([live('z'), assign], [live('mail-9-builder'), overdue]));
    expect(played.board.tasks.get('mail-9-builder')?.work.phase).toMatchObject({
      as: 'failed',
      why: 'the deadline of its assignment is over',
    });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'failed' });
  });
});

describe('a question to MAIN', () => {
  const ask = mail(7, { action: 'clarify', via: 'a', task: 'a', body: { question: 'which?' } });
  const awaiting: Script = {
    ...posting([live('a'), ask]),
    turn: ({ attempt }) => (attempt === 'a-1' ? { awaits: [ask.id] } : undefined),
  };

  function answers(
    said: { answer: string; reason: string; doc_updated?: boolean; doc_path?: string },
    wrote: boolean,
  ): Script {
    const output = { doc_updated: false, doc_path: '', ...said };
    return {
      ...awaiting,
      ...posting([live('a'), ask]),
      turn: (turn, board) => (turn.task.startsWith('answer-') ? { output } : awaiting.turn?.(turn, board)),
      evidence: (task) =>
        !task.startsWith('answer-')
          ? undefined
          : wrote
            ? { changedPaths: ['docs/a.md'] }
            : { commit: null, commits: 0, changedPaths: [] },
    };
  }

  const sent = (played: ReturnType<typeof play>) =>
    played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));

  it('wakes it, and whoever asked goes on with what it said once the document is delivered', () => {
    const played = play([newTask('a', { agent: 'bob' })], answers({ answer: 'the first', reason: '' }, true));
    expect(played.turns.map(({ task, agent }) => `${task} ${agent}`)).toEqual([
      'a bob',
      'answer-7-chief chief',
      'a bob',
    ]);
    expect(sent(played)).toMatchObject([
      { from: 'MAIN', to: ['bob'], action: 'answer', corr: ask.id, body: { answer: 'the first', doc_updated: true } },
    ]);
    expect(played.turns[2]).toMatchObject({ prompt: { why: 'answered' }, session: { resume: true } });
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('delivers nothing but documentation', () => {
    const written = answers({ answer: 'the first', reason: '' }, true);
    const played = play([newTask('a', { agent: 'bob' })], {
      ...written,
      evidence: (task) => (task.startsWith('answer-') ? { changedPaths: ['docs/a.md', 'src/a.ts'] } : undefined),
    });
    expect(played.board.tasks.get('answer-7-chief')?.work.phase).toMatchObject({ as: 'failed' });
    expect(sent(played)).toMatchObject([{ from: 'ROUTER', type: 'fail', corr: ask.id }]);
  });

  it('has a form with the fields that its prompt names', () => {
    const form = withMail(PLAIN).answers?.['mail-answer']?.schema as { properties: Record<string, unknown> };
    const brief = play(OPEN, posting([live('a'), ask])).board.tasks.get('answer-7-chief')?.task.brief.text ?? '';
    const named = [...brief.matchAll(/`(\w+)(?:: true)?`/g)].flatMap(([, name = '']) =>
      name === 'reply' ? [] : [name],
    );
    expect(named).toEqual(['doc_updated', 'doc_path', 'reason']);
    expect(Object.keys(form.properties)).toEqual(['answer', ...named]);
  });

  it('says where its document has the answer', () => {
    const output = { answer: 'the first', doc_updated: true, doc_path: 'docs/a.md#L3', reason: '' };
    const played = play([newTask('a', { agent: 'bob' })], answers(output, true));
    expect(sent(played)[0]?.body).toEqual({ answer: 'the first', doc_updated: true, doc_path: 'docs/a.md#L3' });
  });

  it('comes back for a document that it promises, whatever reason it gives', () => {
    const output = { answer: 'the first', doc_updated: true, reason: 'see there' };
    const played = play([newTask('a', { agent: 'bob' })], answers(output, false));
    expect(played.turns.map(({ task }) => task)).toEqual(['a', 'answer-7-chief', 'answer-7-chief', 'a']);
    expect(sent(played)).toMatchObject([{ body: { answer: 'the first', reason: NOT_WRITTEN } }]);
  });

  it('needs no document where a reason is said', () => {
    const played = play(
      [newTask('a', { agent: 'bob' })],
      answers({ answer: 'the first', reason: 'it is written' }, false),
    );
    expect(sent(played)).toMatchObject([{ body: { answer: 'the first', reason: 'it is written' } }]);
  });

  it('comes back once where there is neither, and is answered all the same then', () => {
    const played = play([newTask('a', { agent: 'bob' })], answers({ answer: 'the first', reason: '' }, false));
    expect(played.turns.map(({ task }) => task)).toEqual(['a', 'answer-7-chief', 'answer-7-chief', 'a']);
    expect(sent(played)).toMatchObject([{ body: { answer: 'the first', reason: NOT_WRITTEN } }]);
  });

  it('does not come back where a task has a single round', () => {
    const plan = [{ do: 'add-task', task: newTask('a', { agent: 'bob' }) } as const];
    const limits = { ...DEFAULT_PLAN_LIMITS, rounds: 1 };
    const script = answers({ answer: 'the first', reason: '' }, false);
    const played = simulate({ facts: factsOf(ROSTER, { verifies: false, limits }), plan, playbook: PLAIN, script });
    expect(sent(played)).toMatchObject([{ body: { answer: 'the first', reason: NOT_WRITTEN } }]);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('that cannot be answered does not hold the work for ever, nor fail it', () => {
    const failure = { kind: 'model-refused', message: 'no', mayHaveActed: false } as const;
    const played = play([newTask('a', { agent: 'bob' })], {
      ...awaiting,
      ...posting([live('a'), ask]),
      turn: (turn, board) =>
        turn.task.startsWith('answer-') ? { outcome: 'failed', failure } : awaiting.turn?.(turn, board),
    });
    // Nobody answers in MAIN's name.
    expect(sent(played)).toMatchObject([{ from: 'ROUTER', to: ['bob'], type: 'fail', corr: ask.id }]);
    expect(sent(played)[0]?.body['reason']).toMatch(/^MAIN gave no answer \(model-refused: no\): decide what/);
    expect(played.board.tasks.get('a')?.work.phase).toMatchObject({ as: 'done' });
    expect(played.end).toMatchObject({ outcome: 'done' });
  });
});

it('a question to a role wakes one of it, who answers for it', () => {
  const ask = mail(7, { to: ['reviewer'], action: 'clarify', via: 'a', task: 'a', body: { question: 'which?' } });
  const played = play([newTask('a', { agent: 'bob' })], {
    ...posting([live('a'), ask]),
    turn: ({ attempt, task }) =>
      attempt === 'a-1' ? { awaits: [ask.id] } : task === 'a' ? undefined : { output: { answer: 'this', reason: 'r' } },
  });
  expect(played.turns.map(({ task, agent }) => `${task} ${agent}`)).toEqual(['a bob', 'answer-7-rex rex', 'a bob']);
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it('a question to a role that only its asker has is refused, and holds up nothing', () => {
  const ask = mail(7, { to: ['builder'], action: 'clarify', via: 'a', task: 'a', body: { question: 'which?' } });
  const played = play([newTask('a', { agent: 'bob' })], {
    ...posting([live('a'), ask]),
    turn: ({ attempt }) => (attempt === 'a-1' ? { awaits: [ask.id] } : undefined),
  });
  expect(played.turns.map(({ task }) => task)).toEqual(['a', 'a']);
  const sent = played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));
  expect(sent).toMatchObject([{ from: 'ROUTER', to: ['bob'], type: 'fail', corr: ask.id }]);
  expect(played.end).toMatchObject({ outcome: 'done' });
});

it.each(BUILT_IN_PLAYBOOKS)('%s lets everybody answer what others may ask of it', (name) => {
  for (const role of ['main', 'member', 'planner', 'builder', 'reviewer']) {
    expect(createPlaybook({}, name)?.tools(role), role).toEqual(expect.arrayContaining(['send', 'done', 'fail']));
  }
});

describe('whoever has assigned work', () => {
  const assign = handOff(9, 'bob', { from: 'MAIN', via: 'z', task: 'FEAT-1', body: { task_type: 'implement' } });
  const said = { ...mail(8, { kind: 'done', re: { id: assign.id, from: 'MAIN', action: 'assign' } }) };
  const sent = (played: ReturnType<typeof play>) =>
    played.effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));

  it('hears of its end, whether or not the agent says so', () => {
    const played = play(OPEN, posting([live('z'), assign]));
    expect(sent(played)).toMatchObject([{ from: 'bob', to: ['MAIN'], type: 'done', corr: assign.id, task: 'FEAT-1' }]);
  });

  it('hears of it once', () => {
    const played = play(OPEN, posting([live('z'), assign], [live('mail-9-builder'), said]));
    expect(sent(played)).toEqual([]);
  });

  it('hears of what was not done, whatever the agent says', () => {
    const played = play(OPEN, {
      ...posting([live('z'), assign], [live('mail-9-builder'), said]),
      evidence: (task) => (task === 'mail-9-builder' ? { commit: null, commits: 0, changedPaths: [] } : undefined),
    });
    expect(sent(played)).toMatchObject([{ from: 'bob', to: ['MAIN'], type: 'fail', corr: assign.id }]);
  });
});

describe('one message to several', () => {
  const TWINS = [
    CHIEF,
    member('backend-developer-number-one', 'builder'),
    member('backend-developer-number-two', 'builder'),
  ];
  const to = ['backend-developer-number-one', 'backend-developer-number-two'];

  it('assigns to each, whatever role they share', () => {
    const assign = handOff(9, '', { from: 'MAIN', via: 'z', to, body: { task_type: 'implement' } });
    const plan = [newTask('z', { agent: 'chief' })];
    const played = play(plan, posting([live('z'), assign]), TWINS);
    expect(played.turns.map(({ agent }) => agent)).toEqual(['chief', ...to]);
    expect(played.end).toMatchObject({ outcome: 'done' });
    expect(played.effects).not.toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ type: 'fail' }) }),
    );
  });

  it('asks each, however alike their names', () => {
    const ask = mail(7, { from: 'MAIN', to, action: 'clarify', via: 'z', body: { question: 'which?' } });
    const played = play(
      [newTask('z', { agent: 'chief' })],
      { ...posting([live('z'), ask]), turn: () => ({ output: { answer: 'this', reason: 'r' } }) },
      TWINS,
    );
    expect(played.turns.map(({ agent }) => agent)).toEqual(['chief', ...to]);
  });
});

it('an assignment waits for those that it names as messages do', () => {
  const assign = (id: number, task: string, dependencies: string[]) =>
    handOff(id, 'bob', { from: 'MAIN', via: 'z', task, body: { task_type: 'implement', dependencies } });
  const planned = (board: Board) => board.tasks.has('mail-9-builder');
  const played = play(OPEN, posting([live('z'), assign(9, 'FEAT-1', [])], [planned, assign(10, 'FEAT-2', ['FEAT-1'])]));
  expect(played.board.tasks.get('mail-9-builder')?.task.needs).toEqual(['z']);
  expect(played.board.tasks.get('mail-10-builder')?.task.needs).toContain('mail-9-builder');
});

describe('a fail', () => {
  const fail = mail(8, { kind: 'fail', via: 'a', body: { reason: 'the API is gone', blocked_by: [] } });

  it('from whoever is at work ends the task, at no further try', () => {
    const played = play([newTask('a', { agent: 'bob' })], posting([live('a'), fail]));
    expect(played.turns).toHaveLength(1);
    expect(played.board.tasks.get('a')?.work.phase).toMatchObject({
      as: 'failed',
      why: 'bob gave up: the API is gone',
    });
  });

  it('to an assignment ends the task that it made, and not what its sender is at', () => {
    const assign = handOff(9, 'bob', { from: 'MAIN', via: undefined, body: { task_type: 'implement' } });
    const given = { ...fail, re: { id: assign.id, from: 'MAIN', action: 'assign' as const } };
    const planned = (board: Board) => board.tasks.has('mail-9-builder') && live('a')(board);
    const played = play([newTask('a', { agent: 'bob' })], posting([live('a'), assign], [planned, given]));
    expect(played.board.tasks.get('a')?.work.phase).toMatchObject({ as: 'done' });
    expect(played.board.tasks.get('mail-9-builder')?.work.phase).toMatchObject({
      as: 'failed',
      why: 'bob gave up: the API is gone',
    });
  });

  it.each([
    ['in answer to a question', { ...fail, re: { id: 'sess-1-5', from: 'MAIN', action: 'clarify' as const } }],
    ['of another’s task', { ...fail, from: 'rex' }],
    ['that nobody’s turn sent', { ...fail, via: undefined }],
    ['without a reason', { ...fail, body: {} }],
  ])('%s changes nothing', (_title, news) => {
    const played = play([newTask('a', { agent: 'bob' })], posting([live('a'), news]));
    expect(played.board.tasks.get('a')?.work.phase).toMatchObject({ as: 'done' });
  });
});
