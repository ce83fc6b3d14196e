import { z } from 'zod';

/** One run of an action. On record before its command starts, so that it is never run twice for one message. Times are epoch ms. */
export const actionRunSchema = z.object({
  name: z.string(),
  args: z.array(z.string()),
  by: z.string(),
  at: z.number().int(),
  /** Absent: it is at work, or squad was killed meanwhile. */
  end: z
    .object({
      at: z.number().int(),
      /** null: a signal ended it, or `problem` says more. */
      code: z.number().int().nullable(),
      /** The last part of what it printed. */
      output: z.string(),
      /** It could not start, or took too long. */
      problem: z.string().optional(),
    })
    .optional(),
});
export type ActionRun = z.infer<typeof actionRunSchema>;
