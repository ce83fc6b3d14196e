import { z } from 'zod';
import { CAUSES } from './plan/task.ts';
import { toolErrorSchema } from './tool-error.ts';

/** Why a task was not delivered, where its work is and what to do next. Texts are printable and shortened. API. */
export const taskFailureSchema = z.strictObject({
  task: z.string(),
  title: z.string(),
  /** `blocked`: it waits for what a person has to bring. */
  as: z.enum(['failed', 'cancelled', 'blocked']),
  /** null if the playbook ended it. */
  cause: z.enum(CAUSES).nullable(),
  why: z.string(),
  /** Tasks that need it and were cancelled before their first turn. */
  cancelled: z.array(z.string()),
  /** The agent of the turn that the other fields are about; null if there was no turn. */
  agent: z.string().nullable(),
  /** The last text of that agent's model; null if it wrote none, or if `why` says it. */
  lastWords: z.string().nullable(),
  /** How that turn ended, if it did not complete; null if it did, or if `why` or `lastWords` says it. */
  ended: z.string().nullable(),
  /** Tool calls that failed or were denied, the last ones of that agent, oldest first. `output` is empty if it is said above. */
  errors: z.array(toolErrorSchema.strict()),
  /** The work it left, and the command that shows it; null if it left none. */
  work: z.strictObject({ ref: z.string(), commit: z.string(), show: z.string() }).nullable(),
  /** Commands that continue from here, the most likely first. */
  next: z.array(z.string()),
});
export type TaskFailure = z.infer<typeof taskFailureSchema>;
