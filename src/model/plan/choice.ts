import { z } from 'zod';

/** The records of a playbook in which several tasks do the same and one is delivered: the result of each, by task. */
export const CHOICE = 'choice';

export const choiceSchema = z.object({
  /** `not-chosen`: its work is done and kept. */
  as: z.enum(['delivered', 'not-chosen', 'failed']),
  why: z.string(),
});
export type Choice = z.infer<typeof choiceSchema>;
