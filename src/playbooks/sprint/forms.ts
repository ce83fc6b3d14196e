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

/** The form of a step: what every answer has to say, and then what `more` finds or makes of it. */
export function formOf<N extends FormName>(
  name: N,
  about: About,
  more: (view: View, answer: AnswerOf<N>, task: string) => AnswerReading = () => ({}),
): StageForm {
  const schema = FORMS[name];
  return {
    schema: answerSchema(schema),
    repairs: 2,
    refusal: 'This answer cannot be used:',
    read: (view, answer, task) => {
      // A person takes the task as it is.
      if (answer === null) return {};
      const wrong = answerProblems(schema, answer);
      if (wrong.length > 0) return refused(wrong);
      const given = schema.parse(answer) as AnswerOf<N>;
      const problems = contractProblems(view, given, { ...about, task });
      if (problems.length > 0) return refused(problems);
      const reading = more(view, given, task);
      return reading.problems === undefined ? reading : refused(reading.problems);
    },
  };
}

function refused(problems: readonly string[]): AnswerReading {
  return { problems: atMost([...problems], MOST_PROBLEMS, (left) => `and ${left} more problems`) };
}

interface Given {
  readonly request_id: string;
  readonly role: string;
  readonly status: string;
  readonly error: string | null;
  readonly proposals: {
    readonly workflow_transition: z.infer<typeof transitionSchema>;
    readonly attachments_read?: unknown;
  };
}

function contractProblems(view: View, given: Given, about: About & { readonly task: string }): string[] {
  const { proposals, request_id: id, role, status, error } = given;
  const { workflow_transition: transition, attachments_read: seen } = proposals;
  const wanted = stageTask(view, about.task)?.entry ?? about.request;
  const named = new Set(Array.isArray(seen) ? seen.map(String) : []);
  const unread = Array.isArray(seen) ? about.attachments.filter((one) => !named.has(one)) : [];
  const round = view.task(about.task)?.round ?? 1;
  return [
    ...(id === wanted ? [] : [`\`request_id\` must be ${wanted}`]),
    ...(about.roles.includes(role) ? [] : [`\`role\` must be ${about.roles.join(' or ')}`]),
    ...((status === 'completed') === (transition.outcome !== 'block')
      ? []
      : [
          `\`status\` is ${status} and \`workflow_transition\` says ${transition.outcome}: \`block\` goes with blocked or failed`,
        ]),
    ...(status === 'failed' && (error ?? '').trim() === '' ? ['`status` is failed, and `error` does not say why'] : []),
    ...transitionProblems(about.step, transition, { round, cap: PHASE_ITERATIONS, unread }),
  ];
}

/** The answer of a task in its form; undefined: it has none, or a person took the task without one. */
export function answerIn<N extends FormName>(name: N, answer: Json | undefined): AnswerOf<N> | undefined {
  return FORMS[name].safeParse(answer).data as AnswerOf<N> | undefined;
}
