import { z } from 'zod';
import { VERBS } from './verbs.ts';

/** The orchestrator’s answer to messages. No field is optional, because strict structured output requires all. */
export const readingAnswerSchema = z.object({
  role: z.string().describe('your role'),
  messages: z
    .array(
      z.object({
        message_id: z.string().describe('its id in the brief, such as m-1'),
        verb: z.enum(VERBS).describe('what its sender wants; one of the verbs that the brief lists for this message'),
        about: z
          .string()
          .max(200)
          .nullable()
          .describe(
            'status: the id of a request, item, sprint or run; cancel: the request; answer: the run; action: its name',
          ),
        args: z.array(z.string().max(200)).max(20).describe('of an action; otherwise empty'),
        now: z.boolean().describe('sprint-stop: what is at work is ended, too'),
        text: z
          .string()
          .max(4_000)
          .nullable()
          .describe(
            'sprint-start: the milestone; answer: the answer in the sender’s own words; none: your reply to the sender',
          ),
      }),
    )
    .max(20)
    .describe('one for each message of the brief'),
});
export type ReadingAnswer = z.infer<typeof readingAnswerSchema>;
