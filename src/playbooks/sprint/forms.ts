import { z } from 'zod';
import type { AnswerReading, View } from '../../model/plan.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import { asObject, type Json } from '../../text/json.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { StageForm } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { FORMS, type AnswerOf, type FormName } from '../../model/sprint/answers.ts';
import {
  transitionProblems,
  transitionSchema,
  type AnsweringStep,
  type Transition,
} from '../../model/sprint/transition.ts';

const MOST_PROBLEMS = 30;
/** How often a phase of the planning may be done. */
const PHASE_ITERATIONS = 3;

/** Who answers, and for what. */
interface About {
  readonly step: AnsweringStep;
  readonly roles: readonly string[];
  /** The request that a whole stage is for. */
  readonly request: string;
  /** Names of attachments that have to be read before a phase may block. */
  readonly attachments: readonly string[];
}

/** An answer in its form. It counts only without problems. */
type Reading = Omit<Extract<AnswerReading, { problems?: never }>, 'problems'> & {
  readonly problems?: readonly string[];
};

/** A form whose answers fit its schema, and then `read`. One that cannot be used goes back twice. */
export function checkedForm<S extends z.ZodType>(
  schema: S,
  read: (view: View, answer: z.infer<S>, task: string) => Reading,
): StageForm {
  return {
    schema: answerSchema(schema),
    repairs: 2,
    refusal: 'This answer cannot be used:',
    read: (view, answer, task) => {
      // A person takes the task as it is.
      if (answer === null) return {};
      const wrong = answerProblems(schema, answer);
      const { problems = [], ...counts } =
        wrong.length > 0 ? { problems: wrong } : read(view, schema.parse(answer), task);
      if (problems.length === 0) return counts;
      return { problems: atMost([...problems], MOST_PROBLEMS, (left) => `and ${left} more problems`) };
    },
  };
}

/** The form of a step: what every answer has to say, and then what `more` finds or makes of it. */
export function formOf<N extends FormName>(
  name: N,
  about: About,
  more: (view: View, answer: AnswerOf<N>, task: string) => Reading = () => ({}),
): StageForm {
  return checkedForm(FORMS[name], (view, answer, task) => {
    const given = answer as AnswerOf<N>;
    const problems = contractProblems(view, given, { ...about, task });
    return problems.length > 0 ? { problems } : more(view, given, task);
  });
}

type Said = Pick<AnswerOf<FormName>, 'role' | 'status' | 'error'>;

/** Whether one of these roles answers, and says why if it failed. */
export function saidProblems({ role, status, error }: Said, roles: readonly string[]): string[] {
  return [
    ...(roles.includes(role) ? [] : [`\`role\` must be ${roles.join(' or ')}`]),
    ...(status === 'failed' && (error ?? '').trim() === '' ? ['`status` is failed, and `error` does not say why'] : []),
  ];
}

function contractProblems(view: View, given: AnswerOf<FormName>, about: About & { readonly task: string }): string[] {
  const { proposals, request_id: id, status } = given;
  const { outcome } = proposals.workflow_transition;
  const named = 'attachments_read' in proposals ? proposals.attachments_read : about.attachments;
  const wanted = stageTask(view, about.task)?.entry ?? about.request;
  return [
    ...(id === wanted ? [] : [`\`request_id\` must be ${wanted}`]),
    ...saidProblems(given, about.roles),
    ...((status === 'completed') === (outcome !== 'block')
      ? []
      : [`\`status\` is ${status} and \`workflow_transition\` says ${outcome}: \`block\` goes with blocked or failed`]),
    ...transitionProblems(about.step, proposals.workflow_transition, {
      ...{ round: view.task(about.task)?.round ?? 1, cap: PHASE_ITERATIONS },
      unread: about.attachments.filter((one) => !named.includes(one)),
    }),
  ];
}

/** The answer of a task in its form; undefined: it has none, or a person took the task without one. */
export function answerIn<N extends FormName>(name: N, answer: Json | undefined): AnswerOf<N> | undefined {
  return FORMS[name].safeParse(answer).data as AnswerOf<N> | undefined;
}

/** The transition that an answer asks for, whatever its form; undefined: it has none. */
export function transitionIn(answer: Json | undefined): Transition | undefined {
  return transitionSchema.safeParse(asObject(asObject(answer)['proposals'])['workflow_transition']).data;
}
