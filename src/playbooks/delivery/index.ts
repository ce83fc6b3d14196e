import { limitsSchema } from '../../model/limits.ts';
import type { AnswerForm, OptionsSource, Playbook } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { plainLine } from '../../text/plain-text.ts';
import { answerSchema, failRun } from '../shared/tasks.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { Stage, StageList } from '../stages/stage-list.ts';
import {
  examplePlan,
  PLAN_WITH_CRITERIA,
  type PlanAnswer,
  planAnswerSchema,
  planWithCriteriaSchema,
  readPlanAnswer,
  sharedFiles,
  unplacedFiles,
} from './plan-answer.ts';
import { builderRoles, DELIVERY_ROLES, deliveryCast } from './roles.ts';
import { TEST_FORM, TEST_REPORT } from './test-report.ts';

type DeliverySubject = Pick<OptionsSource, 'roles' | 'limits' | 'publish' | 'objective' | 'prompts'>;

const read: AnswerForm['read'] & {} = (view, answer, id) => {
  const { roster, objective } = view;
  const checked = readPlanAnswer(answer, builderRoles(roster.map(({ role }) => role)));
  if (!checked.ok) return { problems: checked.problems };
  const { summary, criteria = [], cannot } = checked.answer;
  const { repositories } = objective;
  const unplaced = repositories === undefined ? [] : unplacedFiles(checked.tasks, repositories);
  if (unplaced.length > 0) return { problems: unplaced };
  // Said once: a planner that sees no other way keeps its plan, and the merge decides.
  const shared = (view.task(id)?.attempts ?? 0) > 1 ? [] : sharedFiles(checked.tasks);
  if (shared.length > 0) return { problems: shared };
  // Criteria that the objective has are a person's own.
  const isOpen = objective.criteria.every(({ proposed }) => proposed !== undefined);
  const proposed = criteria.map(({ text, command }) => ({ text, ...(command === null ? {} : { command }) }));
  const plan = { entries: checked.tasks, summary, criteria: isOpen ? proposed : [] };
  if (cannot === null) return plan;
  const known = objective.criteria.length + plan.criteria.length;
  return { ...plan, changes: [withoutTasks(cannot, known > 0)] };
};

/** The end of a run whose planner has no task: done only if criteria can show that nothing is to do. */
function withoutTasks({ why, text }: NonNullable<PlanAnswer['cannot']>, canShow: boolean): PlanChange {
  const said = plainLine(text, 600);
  if (why === 'unclear') return failRun(`the planner finds the objective unclear: ${said}`);
  return canShow
    ? { do: 'finish', outcome: 'done', why: `nothing was to do: ${said}` }
    : failRun(`the planner says that nothing is to do, and no criterion can show it: ${said}`);
}

const refusal = 'This plan cannot be used:';
const late = 'the plan cannot be used:';

/** Before it is known who is there. */
const WHOLE = deliveryList({
  roles: Object.keys(DELIVERY_ROLES),
  limits: limitsSchema.parse({}),
  publish: undefined,
  objective: { criteria: [] },
});

/** A list of stages that is made for who is there. `list`: the one that a run began with. */
export function createDeliveryPlaybook(list: StageList = WHOLE): Playbook<unknown> {
  return createStagesPlaybook({
    name: 'delivery',
    joinsRepositories: true,
    list,
    listFor: deliveryList,
    isForAgents: true,
    roles: DELIVERY_ROLES,
    otherRoles: { delivers: 'each' },
    cast: deliveryCast,
    answers: {
      plan: { schema: answerSchema(planAnswerSchema), refusal, read, late },
      [PLAN_WITH_CRITERIA]: { schema: answerSchema(planWithCriteriaSchema), refusal, read, late },
      [TEST_REPORT]: TEST_FORM,
    },
    lacks: (roster) =>
      builderRoles(roster.map(({ role }) => role)).length === 0
        ? ['delivery needs at least one agent that builds; add one to agents']
        : [],
    example: ({ roster }) => examplePlan(builderRoles(roster.map(({ role }) => role))),
    tools: (role) => (role === 'planner' ? ['ask', 'send'] : ['ask', 'send', 'handoff', 'done', 'fail']),
  });
}

/** Planner → builders in folders of their own → review → committer → tester, as far as there are agents for it. */
function deliveryList({ roles, limits, publish, objective, prompts }: DeliverySubject): StageList {
  const has = (role: string): boolean => roles.includes(role);
  const builders = builderRoles(roles);
  const proposes = objective.criteria.length === 0;
  const rounds = limits.reviewRounds;
  const shows = publish?.pr === true ? { requires: [{ pr: true } as const] } : {};
  const review = has('reviewer') ? { review: { id: 'REVIEW', by: ['reviewer'], rounds } } : {};
  const plan: Stage = {
    id: 'PLAN',
    title: 'Plan the work',
    by: has('planner') ? ['planner'] : builders.slice(0, 1),
    brief: literal(
      renderPrompt('planner/first', { builders: builders.join(', '), proposes: proposes ? 'yes' : '' }, prompts),
    ),
    makes: { answer: proposes ? PLAN_WITH_CRITERIA : 'plan' },
  };
  const build: Stage = {
    id: 'BUILD',
    by: builders,
    each: { of: 'PLAN' },
    brief: renderPrompt('builder/first', { brief: '{item:brief}', acceptance: '{item:acceptance}' }, prompts),
    makes: { code: true },
    ...shows,
    ...review,
  };
  const commit: Stage = {
    id: 'COMMIT',
    by: ['committer'],
    each: { of: 'BUILD' },
    brief: renderPrompt('committer/first', { id: '{item:id}', title: '{item:title}' }, prompts),
    makes: { commit: true },
    ...shows,
  };
  const test: Stage = {
    id: 'TEST',
    by: ['tester'],
    each: { of: has('committer') ? 'COMMIT' : 'BUILD' },
    brief: renderPrompt('tester/first', { title: '{item:title}', acceptance: '{item:acceptance}' }, prompts),
    makes: { answer: TEST_REPORT },
    judges: { rounds: 20, else: { redo: 'BUILD' } },
  };
  return {
    shows: 'tasks',
    stages: [plan, build, ...(has('committer') ? [commit] : []), ...(has('tester') ? [test] : [])],
  };
}

/** Braces of a prompt are no placeholders of the list. */
export function literal(text: string): string {
  return text.replaceAll('{', '{{');
}
