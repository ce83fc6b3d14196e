import { z } from 'zod';
import type { AnswerReading, View } from '../../model/plan.ts';
import { sprintReportSchema } from '../../model/sprint/report.ts';
import { answerProblems } from '../../text/answer-problems.ts';
import { atMost } from '../../text/at-most.ts';
import type { Json } from '../../text/json.ts';
import { answerSchema } from '../shared/tasks.ts';
import type { StageForm } from '../stages/stage-options.ts';
import { stageTask } from '../stages/stage-records.ts';
import { backlogWritesSchema } from './backlog-writes.ts';
import { transitionProblems, transitionSchema, type AnsweringStep } from './transition.ts';

const MOST_PROBLEMS = 30;
/** How often a phase of the planning may be done. */
export const PHASE_ITERATIONS = 3;

const line = z.string().max(500);
const text = z.string().max(8_000);
const lines = z.array(z.string().max(1_000)).max(50);

/** The contract of every answer: what squad keeps of it, whatever its step is. */
function contract<P extends z.ZodRawShape>(proposals: P) {
  return z.object({
    request_id: z.string().describe('the request_id of the brief'),
    role: z.string().describe('your role'),
    status: z.enum(['completed', 'blocked', 'failed']).describe('`blocked`: `workflow_transition` blocks'),
    summary: text.describe('what you did or found, in a few sentences'),
    insights: lines.describe('what later work should know; squad keeps it and makes no item of it'),
    artifacts: lines.describe('paths and documents that you read or made, and that matter'),
    error: line.nullable().describe('of `failed`: what went wrong'),
    proposals: z.object({ ...proposals, workflow_transition: transitionSchema }),
  });
}

const read = { attachments_read: z.array(line).max(50).describe('names of the attachments that you have read') };

export const FORMS = {
  research: contract({
    ...read,
    subject: line.nullable().describe('what was looked into; null: nothing needs research'),
    no_subject_reason: line.nullable().describe('why there is no subject'),
    sources: z
      .array(z.object({ title: line, where: line.describe('an address, or a path of the repository'), says: text }))
      .max(30),
    no_sources_reason: line.nullable().describe('why there are no sources, such as: the repository shows all of it'),
    hints: lines.describe('for the planner: what follows for milestone, scope and order'),
  }),
  milestone: contract({ ...read, title: line.describe('the milestone in one line') }),
  backlog: contract({ ...read, backlog_writes: backlogWritesSchema }),
  todos: contract({
    ...read,
    todos: z
      .array(
        z.object({
          item: z.string().describe('the id of the item; one todo for each item'),
          title: line,
          brief: text.describe('the result and why it is wanted; where to begin; limits; how to see that it works'),
          acceptance: lines.describe('what the reviews check, one an entry'),
          needs: z.array(z.string()).max(50).describe('ids of the items whose todos it builds on'),
        }),
      )
      .max(50)
      .describe('in the order of their priority; empty: nothing can be done'),
  }),
  planned: contract({
    spec_changes: lines.describe('what changes in spec.md for this todo, one sentence an entry; empty: nothing'),
    iteration_note: text.describe('for iteration_log.md: what was decided for this todo, and why'),
  }),
  guidance: contract({
    approach: text.describe('how to build it, with the names and places that others rely on'),
    files: lines.describe('paths that it touches, each with a word on what changes there'),
    risks: lines,
    checks: lines.describe('commands and cases that show that it works'),
  }),
  built: contract({
    commit_subject: line.nullable().describe('the first line of your commit; null: you made none'),
    paths: lines.describe('paths that you changed'),
    no_changes: z.boolean().describe('true: the repository needs no change'),
  }),
  committed: contract({
    commit_subject: line.nullable(),
    paths: lines.describe('paths of the commit'),
    no_changes: z.boolean(),
  }),
  report: contract({ report: sprintReportSchema }),
};
export type FormName = keyof typeof FORMS;
export type AnswerOf<N extends FormName> = z.infer<(typeof FORMS)[N]>;

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
