import { z } from 'zod';
import type { AnswerReading, View } from '../../model/plan.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import type { Json } from '../../text/json.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { StageForm } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { FORMS, type AnswerOf, type FormName } from '../../model/sprint/answers.ts';
import { transitionProblems, transitionSchema, type AnsweringStep } from '../../model/sprint/transition.ts';

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

/** A form whose answers fit its schema, and then `read`. One that cannot be used goes back twice. */
export function checkedForm<S extends z.ZodType>(
  schema: S,
  read: (view: View, answer: z.infer<S>, task: string) => AnswerReading,
): StageForm {
  return {
    schema: answerSchema(schema),
    repairs: 2,
    refusal: 'This answer cannot be used:',
    read: (view, answer, task) => {
      // A person takes the task as it is.
      if (answer === null) return {};
      const wrong = answerProblems(schema, answer);
      const reading = wrong.length > 0 ? { problems: wrong } : read(view, schema.parse(answer), task);
      if (reading.problems === undefined) return reading;
      return { problems: atMost([...reading.problems], MOST_PROBLEMS, (left) => `and ${left} more problems`) };
    },
  };
}

/** The form of a step: what every answer has to say, and then what `more` finds or makes of it. */
export function formOf<N extends FormName>(
  name: N,
  about: About,
  more: (view: View, answer: AnswerOf<N>, task: string) => AnswerReading = () => ({}),
): StageForm {
  return checkedForm(FORMS[name], (view, answer, task) => {
    const given = answer as AnswerOf<N>;
    const problems = contractProblems(view, given, { ...about, task });
    return problems.length > 0 ? { problems } : more(view, given, task);
  });
}

interface Said {
  readonly role: string;
  readonly status: string;
  readonly error: string | null;
}

/** Whether one of these roles answers, and says why if it failed. */
export function saidProblems({ role, status, error }: Said, roles: readonly string[]): string[] {
  return [
    ...(roles.includes(role) ? [] : [`\`role\` must be ${roles.join(' or ')}`]),
    ...(status === 'failed' && (error ?? '').trim() === '' ? ['`status` is failed, and `error` does not say why'] : []),
  ];
}

interface Given extends Said {
  readonly request_id: string;
  readonly proposals: {
    readonly workflow_transition: z.infer<typeof transitionSchema>;
    readonly attachments_read?: unknown;
  };
}

function contractProblems(view: View, given: Given, about: About & { readonly task: string }): string[] {
  const { proposals, request_id: id, status } = given;
  const { workflow_transition: transition, attachments_read: seen } = proposals;
  const wanted = stageTask(view, about.task)?.entry ?? about.request;
  const named = new Set(Array.isArray(seen) ? seen.map(String) : []);
  const unread = Array.isArray(seen) ? about.attachments.filter((one) => !named.has(one)) : [];
  const round = view.task(about.task)?.round ?? 1;
  return [
    ...(id === wanted ? [] : [`\`request_id\` must be ${wanted}`]),
    ...saidProblems(given, about.roles),
    ...((status === 'completed') === (transition.outcome !== 'block')
      ? []
      : [
          `\`status\` is ${status} and \`workflow_transition\` says ${transition.outcome}: \`block\` goes with blocked or failed`,
        ]),
    ...transitionProblems(about.step, transition, { round, cap: PHASE_ITERATIONS, unread }),
  ];
}

/** The answer of a task in its form; undefined: it has none, or a person took the task without one. */
export function answerIn<N extends FormName>(name: N, answer: Json | undefined): AnswerOf<N> | undefined {
  return FORMS[name].safeParse(answer).data as AnswerOf<N> | undefined;
}
