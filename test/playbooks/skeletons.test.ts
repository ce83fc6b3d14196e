import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/text/json.ts';
import type { Parsed, Playbook } from '../../src/model/plan.ts';
import type { Member } from '../../src/model/plan/board.ts';
import { createObjectivePlaybook } from '../../src/playbooks/objective/index.ts';
import { createSessionPlaybook } from '../../src/playbooks/session/index.ts';
import { createSprintPlaybook } from '../../src/playbooks/sprint/index.ts';
import { createView } from '../../src/graph/decisions/view.ts';
import { factsOf, integratedTasks, member, simulate, type Played, type Script } from './simulator.ts';

function play<I>(
  playbook: Playbook<I>,
  roster: Member[],
  script: Script,
  files: { path: string; text: string }[] = [],
): Played {
  const facts = factsOf(roster);
  const parsed: Parsed<I> = playbook.parse({ ...facts, files });
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return simulate({ facts, playbook, plan: playbook.plan(parsed.input), script });
}

/** Answers by task id, for turns that do the work. */
function answers(byTask: Record<string, Json>): Script {
  return {
    turn: ({ task, review }) => {
      const output = review === null ? byTask[task] : undefined;
      return output === undefined ? undefined : { output };
    },
  };
}

const OBJECTIVE_TEAM = [
  member('pm', 'pm'),
  member('ba', 'ba'),
  member('builder-1', 'builder'),
  member('builder-2', 'builder'),
  member('reviewer', 'reviewer'),
];

describe('objective', () => {
  it('walks its stages in order, with both builders side by side', () => {
    const played = play(
      createObjectivePlaybook(),
      OBJECTIVE_TEAM,
      answers({ 'post-review': { approved: true, summary: 'good' } }),
    );
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    const together = played.steps.flatMap(({ next }) =>
      next.next === 'start' && next.starts.length > 1 ? [next.starts] : [],
    );
    const pairs = together.map((starts) =>
      starts.map((start) => start.start === 'turn' && `${start.task} ${start.agent}`),
    );
    expect(pairs).toContainEqual(['implementation-1 builder-1', 'implementation-2 builder-2']);
    const [file] = createObjectivePlaybook().files?.(createView(played.board)) ?? [];
    expect(JSON.parse(file?.text ?? '')).toMatchObject({ review_iterations: { spec: 1, plan: 1 } });
  });

  it('names every role that is missing', () => {
    expect(createObjectivePlaybook().parse({ ...factsOf([member('pm', 'pm')]), files: [] })).toMatchObject({
      ok: false,
      errors: { length: 3 },
    });
  });
});

describe('session', () => {
  const files = (blockedBy: string[]) => [
    {
      path: 'team-session.json',
      text: JSON.stringify({
        session_id: 'TC-auth-2026-02-27',
        task_description: 'Auth',
        status: 'active',
        team_name: 'auth',
        roles: [{ name: 'writer', inner_loop: true }],
      }),
    },
    {
      path: 'task-analysis.json',
      text: JSON.stringify({
        tasks: [
          { id: 'IMPL-001', subject: 'Build', owner: 'writer', blockedBy: ['SPEC-001'] },
          { id: 'SPEC-001', subject: 'Specify', owner: 'writer', blockedBy },
        ],
      }),
    },
    { path: 'roles/writer.md', text: '# Role: writer' },
  ];

  it('executes the graph of its files, with one session for an inner loop', () => {
    const played = play(createSessionPlaybook(), [member('w', 'writer')], {}, files([]));
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(played.turns.map((turn) => [turn.task, turn.session.key])).toEqual([
      ['spec-001', 'agent/w'],
      ['impl-001', 'agent/w'],
    ]);
  });

  it.each([
    ['no files', [], 'Invalid session: team-session.json missing'],
    ['a corrupt file', [{ path: 'team-session.json', text: '{' }], 'Invalid session: team-session.json corrupt'],
    ['a circle', files(['IMPL-001']), 'the tasks need each other in a circle'],
    ['an unknown need', files(['X']), 'task SPEC-001: there is no task X'],
  ])('refuses %s', (_title, given, error) => {
    const parsed = createSessionPlaybook().parse({ ...factsOf([member('w', 'writer')]), files: given });
    expect(parsed).toEqual({ ok: false, errors: [error] });
  });
});

const SPRINT_TEAM = ['research', 'planner', 'architect', 'developer', 'qa', 'version-controller'].map((role) =>
  member(`the-${role}`, role),
);

describe('sprint', () => {
  const planning = {
    'backlog-definition': { items: [{ id: 'item-1', title: 'Login' }] },
    'todo-finalization': {
      todos: [
        { title: 'Login', brief: 'Build login', acceptance: ['works'] },
        { title: 'Logout', brief: 'Build logout', acceptance: ['works'] },
      ],
    },
  };

  it('plans in one session, runs the chains and takes requests meanwhile', () => {
    const request = { type: 'request', id: 'r1', text: 'Dark mode', fingerprint: 'f' } as const;
    const outside: Script['outside'] = (_board, step) =>
      step === 2 || step === 5 ? { ...request, id: `r${step}` } : undefined;
    const played = play(createSprintPlaybook(), SPRINT_TEAM, { ...answers(planning), outside });
    expect(played.end).toMatchObject({ next: 'finish', outcome: 'done' });
    const planner = played.turns.filter((turn) => turn.agent === 'the-planner').map((turn) => turn.session.key);
    expect([planner.length, new Set(planner).size]).toEqual([5, 1]);
    expect(integratedTasks(played)).toEqual(['todo-1-commit', 'todo-2-commit']);
    const [file] = createSprintPlaybook().files?.(createView(played.board)) ?? [];
    expect(file?.text).toBe('# Backlog\n\n- r2: Dark mode\n- item-1: Login\n');
  });

  it('does not begin with an empty backlog', () => {
    const played = play(
      createSprintPlaybook(),
      SPRINT_TEAM,
      answers({ ...planning, 'backlog-definition': { items: [] } }),
    );
    expect(played.end).toMatchObject({ outcome: 'failed', why: 'planning is incomplete: the backlog is empty' });
  });
});
