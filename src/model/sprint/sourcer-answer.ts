import { z } from 'zod';
import { ITEM_KINDS, PRIORITY } from './item.ts';
import { RESULT_FIELDS } from './result-fields.ts';

/** The sourcer's answer to findings. */
export const sourcerAnswerSchema = z.object({
  ...RESULT_FIELDS,
  proposals: z.object({
    candidates: z
      .array(
        z.object({
          findings: z.array(z.string()).min(1).max(50).describe('ids of the findings that it is about'),
          title: z.string().trim().min(1).max(200).describe('one result, in one line'),
          kind: z.enum(ITEM_KINDS),
          priority: z.number().int().min(PRIORITY.least).max(PRIORITY.most).describe('higher ones come first'),
          acceptance: z.array(z.string().max(500)).max(20),
          why: z.string().max(1_000).describe('what you saw, with its place'),
        }),
      )
      .max(50),
    dismissed: z
      .array(z.object({ finding: z.string(), reason: z.string().min(1).max(1_000) }))
      .max(50)
      .describe('findings that are no work'),
  }),
});
export type SourcerAnswer = z.infer<typeof sourcerAnswerSchema>;
