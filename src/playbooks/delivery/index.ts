import type { AnswerForm, Playbook } from '../../model/plan.ts';
import { limitsSchema } from '../../model/limits.ts';
import { answerSchema } from '../shared/tasks.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { deliveryList } from './list.ts';
import {
  examplePlan,
  PLAN_WITH_CRITERIA,
  planAnswerSchema,
  planWithCriteriaSchema,
  readPlanAnswer,
} from './plan-answer.ts';
import { builderRoles, DELIVERY_ROLES, deliveryCast } from './roles.ts';
import { TEST_FORM, TEST_REPORT } from './test-report.ts';

const read: AnswerForm['read'] & {} = ({ roster, objective }, answer) => {
  const checked = readPlanAnswer(answer, builderRoles(roster.map(({ role }) => role)));
  if (!checked.ok) return { problems: checked.problems };
  const { summary, criteria = [] } = checked.answer;
  // Criteria that the objective has are a person's own.
  const isOpen = objective.criteria.every(({ proposed }) => proposed !== undefined);
  const proposed = criteria.map(({ text, command }) => ({ text, ...(command === null ? {} : { command }) }));
  return { entries: checked.tasks, summary, criteria: isOpen ? proposed : [] };
};

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
