import { z } from 'zod';
import { backlogWritesSchema } from './backlog-writes.ts';
import { RESULT_FIELDS } from './result-fields.ts';

/** The planner's answer to requests and findings. */
export const requestsAnswerSchema = z.object({
  ...RESULT_FIELDS,
  proposals: z.object({
    backlog_writes: backlogWritesSchema,
    requests: z
      .array(
        z.object({
          request_id: z.string(),
          outcome: z.enum(['planned', 'refused']).describe('`refused`: no item can be made of it; the answer says why'),
          items: z.array(z.string()).max(50).describe('ids of its items: those that you add, and those that are there'),
          answer: z
            .string()
            .trim()
            .min(1)
            .max(4_000)
            .describe('for the person who asked: what will be done, or why nothing'),
        }),
      )
      .max(50)
      .describe('one for each request of the brief'),
    findings: z
      .array(
        z.object({
          id: z.string(),
          item: z.string().nullable().describe('the item that it is in; null: it is none'),
          reason: z.string().max(1_000),
        }),
      )
      .max(100)
      .describe('one for each finding of the brief'),
  }),
});
export type RequestsAnswer = z.infer<typeof requestsAnswerSchema>;
