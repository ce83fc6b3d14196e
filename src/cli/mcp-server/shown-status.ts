import { z } from 'zod';
import { costText } from '../../model/amount.ts';
import type { RunStatus } from '../../view/status.ts';
import { plainLine } from '../../text/plain-text.ts';

/** As much of a run as a program needs to decide what is next. */
export const shownStatusSchema = z.strictObject({
  run: z.string().describe('Its name, for the other tools.'),
  state: z
    .string()
    .describe('preparing, running, waiting, stopped, interrupted, or how it ended: done, failed, cancelled.'),
  over: z.boolean(),
  headline: z.string().nullable().describe('The result in one line; null: it is not over.'),
  objective: z.string(),
  branch: z.string().nullable().describe('The branch with its work; null: it does not exist yet.'),
  stage: z.string().nullable(),
  tasks: z.array(z.strictObject({ id: z.string(), title: z.string(), role: z.string(), status: z.string() })),
  waits_for: z.string().nullable().describe('Why it does not continue by itself; null: it does, or it is over.'),
  questions: z
    .array(
      z.strictObject({ id: z.string(), text: z.string(), options: z.array(z.string()), asks_about_plan: z.boolean() }),
    )
    .describe('Open questions; `answer_question` answers.'),
  cost: z.string().describe('So far; a plus means that more was used than is known.'),
  changed: z.boolean().describe('Something changed during the wait.'),
  next: z.array(z.string()).describe('Commands that a person types next, the most likely first.'),
});
export type ShownStatus = z.infer<typeof shownStatusSchema>;

export function shownStatus(status: RunStatus, changed: boolean): ShownStatus {
  const { name, phase, outcome, headline, objective, branch, stage, tasks, waitingFor, asks, usage, next } = status;
  const questions = waitingFor?.for === 'answer' ? waitingFor.questions : [];
  return {
    run: name,
    state: outcome ?? phase,
    over: outcome !== null,
    headline,
    objective,
    branch,
    stage: stage ?? null,
    tasks: tasks.map(({ id, title, role, status: at }) => ({ id, title, role, status: at })),
    waits_for: waitingFor?.why ?? null,
    questions: [
      ...questions.map(({ id, text, options, plan }) => ({ id, text, options, asks_about_plan: plan !== undefined })),
      ...asks.map(({ id, text }) => ({ id, text, options: ['yes', 'no'], asks_about_plan: false })),
    ],
    cost: costText(usage),
    changed,
    next,
  };
}

/** For the model. */
export function nextStep({ run, over, questions, waits_for: why, state }: ShownStatus): string {
  if (over)
    return state === 'done'
      ? `Next: run_diff with run "${run}".`
      : `It is over: ${state}. \`squad report ${run}\` says why.`;
  if (questions.some((one) => one.asks_about_plan)) return `Next: show_plan with run "${run}", then answer_question.`;
  if (questions.length > 0) return `Next: answer_question with run "${run}".`;
  if (why !== null) return `It waits: ${plainLine(why)}. resume_run continues it where that helps.`;
  return `Next: run_status with run "${run}" and wait_seconds 50, until it is over or asks something.`;
}
