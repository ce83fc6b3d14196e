import { z } from 'zod';
import { CAUSES } from './plan/task.ts';
import { toolErrorSchema } from './tool-error.ts';

/** Why a task was not delivered, where its work is and what to do next. Texts are printable and shortened. API. */
export const taskFailureSchema = z.strictObject({
  task: z.string(),
  title: z.string(),
  as: z.enum(['failed', 'cancelled']),
  /** null: the playbook ended it. */
  cause: z.enum(CAUSES).nullable(),
  why: z.string(),
  /** Who took the turn that the rest is about; null: no turn was taken. */
  agent: z.string().nullable(),
  /** The last answer of that agent, or how its turn ended. */
  lastWords: z.string().nullable(),
  /** Tool calls that failed or were denied, the last ones of that agent, oldest first. */
  errors: z.array(toolErrorSchema.strict()),
  /** What it left, and the command that shows it; null: it left nothing. */
  work: z.strictObject({ ref: z.string(), commit: z.string(), show: z.string() }).nullable(),
  /** Commands that go on from here, the most likely first. */
  next: z.array(z.string()),
});
export type TaskFailure = z.infer<typeof taskFailureSchema>;
