import { z } from 'zod';

/** The planner's report on a sprint. No field is optional, because strict structured output requires all. */
export const sprintReportSchema = z.object({
  headline: z.string().trim().min(1).max(200).describe('one line: what the sprint brought'),
  overview: z.string().max(4_000).describe('a few sentences for a person who saw nothing of it'),
  changes: z
    .array(
      z.object({
        title: z.string().max(200),
        before: z.string().max(2_000).describe('how it behaved before'),
        after: z.string().max(2_000).describe('how it behaves now'),
        artifacts: z.array(z.string().max(500)).max(50).describe('files, commits, documents'),
        why: z.string().max(2_000),
      }),
    )
    .max(50)
    .describe('what was delivered, one an entry; nothing that was not'),
  contributions: z
    .array(z.object({ role: z.string().max(100), text: z.string().max(1_000) }))
    .max(50)
    .describe('what each role brought'),
  issues: z.array(z.string().max(1_000)).max(50).describe('what is open, blocked or failed, and why'),
  achievements: z.array(z.string().max(1_000)).max(50),
  judgement: z.string().max(2_000).describe('whether the milestone was reached, and what shows it'),
});
