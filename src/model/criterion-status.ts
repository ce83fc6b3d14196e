import { z } from 'zod';

export const criterionStatusSchema = z.strictObject({
  text: z.string(),
  /** `met`: its command passed. `failed`: its command failed, or a judge says so. `judged`: no command, and a judge saw it met. */
  state: z.enum(['met', 'failed', 'judged', 'not-checked']),
  /** `engine`, or the agent that judged; null: not checked. */
  by: z.string().nullable(),
  evidence: z.string().nullable(),
});
export type CriterionStatus = z.infer<typeof criterionStatusSchema>;
