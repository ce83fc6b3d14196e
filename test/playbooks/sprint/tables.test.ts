import { describe, expect, it } from 'vitest';
import type { RoutingPolicy } from '../../../src/model/sprint/options.ts';
import {
  CATEGORIES,
  OUTCOMES,
  REOPENED_AT,
  transitionProblems,
  transitionSchema,
  type AnsweringStep,
  type Transition,
} from '../../../src/model/sprint/transition.ts';
import { routeStep } from '../../../src/model/sprint/routing.ts';
import { limitsSchema } from '../../../src/model/limits.ts';
import { createSprintPlaybook } from '../../../src/playbooks/sprint/index.ts';
import { sprintCast, SPRINT_ROLES } from '../../../src/playbooks/sprint/roles.ts';
import { sprintList } from '../../../src/playbooks/sprint/list.ts';
import { sprintOptions, transition } from '../../support/sprint-script.ts';
import { SPRINT_TEAM } from './support.ts';

const asked = (outcome: string, more: Record<string, string | boolean | string[] | null> = {}): Transition =>
  transitionSchema.parse(transition(outcome, more));
const FACTS = { round: 1, cap: 3, unread: [] };

describe('what a step may ask for', () => {
  const MAY: Readonly<Record<AnsweringStep, readonly string[]>> = {
    research_initial: ['continue', 'advance'],
    milestone_refinement: ['continue', 'advance', 'block'],
    backlog_definition: ['continue', 'advance', 'block'],
    backlog_prioritization: ['continue', 'advance', 'block'],
    todo_finalization: ['continue', 'advance', 'block'],
    todo_planning: ['advance', 'complete', 'block'],
    architect_guidance: ['advance', 'reopen', 'block'],
    developer_build: ['advance', 'reopen', 'block'],
    version_controller: ['advance', 'complete'],
    sprint_report: ['complete'],
  };
  const more: Readonly<Record<string, Parameters<typeof asked>[1]>> = {
    reopen: { reopen_category: 'scope' },
    block: { required_inputs: ['a price'] },
  };
  const rows = (Object.keys(MAY) as AnsweringStep[]).flatMap((step) =>
    OUTCOMES.map((outcome) => [step, outcome] as const),
  );

  it.each(rows)('%s and %s', (step, outcome) => {
    const problems = transitionProblems(step, asked(outcome, more[outcome]), FACTS);
    const isKnown = MAY[step].includes(outcome);
    expect(problems).toEqual(isKnown ? [] : [expect.stringMatching(/^\w+ may not ask for `\w+`; it may ask for /)]);
  });

  it.each(CATEGORIES)('leads with %s where the list says, and nowhere else', (category) => {
    const step = category === 'scope' || category === 'ux' ? 'architect_guidance' : 'developer_build';
    const { phase, step: target } = REOPENED_AT[category];
    const base = { reopen_category: category, target_phase: phase, target_step: target };
    const own = category === 'implementation' || category === 'verification';
    const fits = transitionProblems(step, asked('reopen', base), FACTS);
    expect(fits).toEqual(
      own ? [expect.stringContaining('must be one of scope, ux, architecture here'), ...fits.slice(1)] : [],
    );
    if (own) return;
    const elsewhere = transitionProblems(step, asked('reopen', { ...base, target_step: 'qa_validation' }), FACTS);
    expect(elsewhere).toEqual([`\`target_step\` is qa_validation, and \`reopen\` leads to ${target}`]);
  });

  it.each<[string, AnsweringStep, Transition, Partial<typeof FACTS>, string]>([
    ['another phase', 'todo_planning', asked('advance', { target_phase: 'closeout' }), {}, 'leads to implementation'],
    [
      'a place where there is none',
      'sprint_report',
      asked('complete', { target_step: 'qa_validation' }),
      {},
      'leads to null',
    ],
    ['no category', 'developer_build', asked('reopen'), {}, 'must be one of'],
    [
      'a category without a reopening',
      'developer_build',
      asked('advance', { reopen_category: 'ux' }),
      {},
      'belongs to `reopen`',
    ],
    ['no reason', 'developer_build', asked('block', { reason: ' ', required_inputs: ['x'] }), {}, '`reason` is empty'],
    ['nothing that is missing', 'todo_planning', asked('block'), {}, 'says what is missing'],
    ['one more time than it may', 'backlog_definition', asked('continue'), { round: 3 }, 'has been done 3 times'],
    [
      'more, and says that all is done',
      'backlog_definition',
      asked('continue', { finalize_phase: true }),
      {},
      'one of the two',
    ],
  ])('is refused with %s', (_, step, transition, facts, problem) => {
    expect(transitionProblems(step, transition, { ...FACTS, ...facts }).join('\n')).toContain(problem);
  });

  it('counts an advance to implementation, whatever it says of its phase', () => {
    const both = asked('advance', {
      finalize_phase: true,
      target_phase: 'implementation',
      target_step: 'architect_guidance',
    });
    expect(transitionProblems('todo_planning', both, FACTS)).toEqual([]);
  });
});

const about = (more: Partial<RoutingPolicy['roles'][string]>): RoutingPolicy['roles'][string] => ({
  ...{ strengths: [], suggested_skills: [], expected_behavior: '', should_not_handle: [], ...more },
});
const staffed = SPRINT_TEAM.map(({ role }) => role);
const route = (
  step: Parameters<typeof routeStep>[0]['step'],
  roles: RoutingPolicy['roles'],
  text: string,
  team = staffed,
) => routeStep({ step, staffed: team, policy: { roles }, text });

describe('who does a step', () => {
  it.each<[string, Parameters<typeof route>, object]>([
    [
      'is who the workflow means, without a policy',
      ['research_initial', {}, 'Logins'],
      { ok: true, role: 'research', strengths: [], skills: [], expected: '' },
    ],
    [
      'stays it where another role has more strengths, and says so',
      ['research_initial', { planner: about({ strengths: ['logins'] }) }, 'Logins that last'],
      { role: 'research', override: 'the scores name planner, and the workflow gives research_initial to research' },
    ],
    [
      'is another allowed one where the policy excludes it',
      ['research_initial', { research: about({ should_not_handle: ['Log-Ins'] }) }, 'log ins that last'],
      { role: 'planner', override: 'research does not handle “Log-Ins”' },
    ],
    [
      'is the next one where no agent has the role',
      ['research_initial', {}, 'Logins', ['planner']],
      { role: 'planner', strengths: [] },
    ],
    [
      'is chosen by score where the workflow leaves it open',
      [
        'planning_advice',
        { architect: about({ strengths: ['borders', 'data'], suggested_skills: ['uml'] }) },
        'The borders of data',
      ],
      { role: 'architect', strengths: ['borders', 'data'], skills: ['uml'] },
    ],
    ['is the first of equal ones', ['planning_advice', {}, 'anything'], { role: 'designer' }],
    [
      'is nobody whose part of a word is excluded',
      ['developer_build', { developer: about({ should_not_handle: ['pay'] }) }, 'Repay the payment'],
      { ok: true, role: 'developer' },
    ],
    [
      'can be no one',
      ['developer_build', { developer: about({ should_not_handle: ['payments'] }) }, 'Payments, at last'],
      {
        ok: false,
        problem: 'policy.yaml leaves no role for developer_build: should_not_handle excludes developer (“payments”)',
      },
    ],
  ])('%s', (_, [step, roles, text, team], expected) => {
    expect(route(step, roles, text, team)).toMatchObject(expected);
  });

  it('refuses a sprint whose policy leaves no one, before it begins', () => {
    const policy = { roles: { developer: about({ should_not_handle: ['logins'] }) } };
    const playbook = createSprintPlaybook(sprintOptions({ policy }));
    const parsed = playbook.parse({
      objective: { title: '', goals: [], criteria: [], constraints: [], context: '', text: '' },
      ...{ roster: SPRINT_TEAM, options: {} },
    });
    expect(parsed).toMatchObject({
      ok: false,
      errors: [expect.stringContaining('leaves no role for developer_build')],
    });
  });
});

it.each([0, 1, 2, 20])(
  'lets the planner ask designer and architect together %i times in each of its planning stages',
  (advice) => {
    const { stages } = sprintList(sprintOptions({ advice, approve: 'todos' }), {
      ...{ roles: staffed, run: 'try', limits: limitsSchema.parse({}) },
    });
    const asking = stages.flatMap(({ id, asks }) => (asks === undefined ? [] : [id]));
    expect(asking).toEqual(['MILESTONE', 'ARTIFACT_SYNC', 'BACKLOG', 'PRIORITIES', 'TODOS', 'PLAN_TODO']);
    for (const { asks } of stages) {
      if (asks !== undefined) expect(asks).toEqual({ of: ['designer', 'architect'], most: advice });
    }
  },
);

it('lets those who advise or judge change no file', () => {
  const cast = sprintCast({ runtimes: ['claude', 'codex'], members: 0 });
  const access = (role: string): string[] => cast.filter((one) => one.role === role).map((one) => one.access);
  for (const role of ['designer', 'architect', 'qa']) expect([role, access(role)]).toEqual([role, ['read-only']]);
  const judges = Object.entries(SPRINT_ROLES).flatMap(([role, { judges: judging }]) =>
    judging === true ? [role] : [],
  );
  expect(judges).toEqual(['architect', 'qa']);
});
