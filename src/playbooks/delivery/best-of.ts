import { z } from 'zod';
import type { AnswerForm, CastMember, CastSource, Playbook, PlaybookSource } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { BEST_OF } from '../../model/playbook-name.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { withMail } from '../shared/mail.ts';
import { addTask, answerSchema, failRun, workTask } from '../shared/tasks.ts';
import { bestOfOptions, inTurn, requirementsOf, triesOf } from './best-of-options.ts';
import { candidatesOf, CHOOSE, nextStep, repairChosen } from './best-of-steps.ts';
import { builderRoles, DELIVERY_ROLES, deliveryCast } from './roles.ts';

/**
 * Several agents do the whole objective, each by itself. Of the work that passes the checks a reviewer chooses one, which is delivered;
 * the rest is kept. It is no list of stages, because a stage delivers all that is done.
 */
export function createBestOfPlaybook(): Playbook<PlaybookSource> {
  return withMail({
    name: BEST_OF,
    joinsRepositories: true,
    roles: DELIVERY_ROLES,
    otherRoles: { delivers: 'each' },
    cast: bestOfCast,
    options: bestOfOptions,
    answers: { [CHOOSE]: choiceForm() },
    parse: (source) => {
      const errors = lacks(source.roster);
      return errors.length > 0 ? { ok: false, errors } : { ok: true, input: source };
    },
    plan: tries,
    advance: (view, event) => {
      if (event.type === 'refused') return [failRun(event.why)];
      if (event.type === 'gate-refused') return repairChosen(view, event);
      return event.type.startsWith('task-') ? nextStep(view) : [];
    },
    // Each decides by itself: an answer to one would be an advantage.
    tools: () => [],
  });
}

function buildersIn(roster: readonly Member[]): Member[] {
  const building = builderRoles(roster.map(({ role }) => role));
  return roster.filter(({ role, readOnly }) => building.includes(role) && readOnly !== true);
}

function lacks(roster: readonly Member[]): string[] {
  return [
    ...(buildersIn(roster).length > 0 ? [] : [`${BEST_OF} needs an agent that builds; add one to agents`]),
    ...(roster.some(({ role }) => role === 'reviewer')
      ? []
      : [`${BEST_OF} needs an agent with the role reviewer; add one to agents`]),
  ];
}

/** A builder and a reviewer on every runtime. */
function bestOfCast(source: CastSource): CastMember[] {
  return deliveryCast(source).filter(({ role }) => role !== 'planner');
}

function tries({ roster, options, objective, prompts }: PlaybookSource): PlanChange[] {
  const brief = renderPrompt('builder/whole', {}, prompts);
  const count = triesOf({ options });
  const requires = requirementsOf({ options, objective });
  return inTurn(buildersIn(roster), count).map(({ name: agent, role }, index) => {
    const title = `Do the work, try ${index + 1} of ${count}`;
    return addTask(
      workTask({ id: `try-${index + 1}`, title, role, brief }, { agent, workspace: 'own', requires: [...requires] }),
    );
  });
}

function choiceForm(): AnswerForm {
  const schema = z.object({
    choice: z.string().describe('the name of the work that is delivered, such as try-2'),
    why: z.string().describe('what makes it better than the others, in one or two sentences'),
  });
  return {
    schema: answerSchema(schema),
    read: (view, answer) => {
      const known = candidatesOf(view).map(({ id }) => id);
      const { choice = '', why = '' } = schema.partial().safeParse(answer).data ?? {};
      const problems = [
        ...(known.includes(choice) ? [] : [`\`choice\` must be one of ${known.join(', ')}`]),
        ...(why.trim() === '' ? ['`why` is empty'] : []),
      ];
      return problems.length === 0 ? {} : { problems };
    },
  };
}
