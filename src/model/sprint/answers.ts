import { z } from 'zod';
import { backlogWritesSchema } from './backlog-writes.ts';
import { sprintReportSchema } from './report.ts';
import { transitionSchema } from './transition.ts';

const line = z.string().max(500);
const text = z.string().max(8_000);
const lines = z.array(z.string().max(1_000)).max(50);
/** More than blanks. */
const said = (most: number): z.ZodString => z.string().trim().min(1).max(most);

/** The contract of every answer: squad keeps all of it, whatever its step is. */
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
  milestone: contract({ ...read, title: said(500).describe('the milestone in one line') }),
  backlog: contract({ ...read, backlog_writes: backlogWritesSchema }),
  todos: contract({
    ...read,
    todos: z
      .array(
        z.object({
          item: z.string().describe('the id of the item; one todo for each item'),
          title: said(500),
          brief: said(8_000).describe(
            'the result and why it is wanted; where to begin; limits; how to see that it works',
          ),
          acceptance: z.array(said(1_000)).min(1).max(50).describe('what the reviews check, one an entry'),
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
