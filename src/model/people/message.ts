import { z } from 'zod';
import { attachmentSchema } from '../sprint/request.ts';
import { intentSchema } from './verbs.ts';

/** The channel of `squad ask`, whose sender may do all. It is no slug, so no channel of the settings can have this name. */
export const TERMINAL = '@terminal';

/** One text of a person, as it came in. Its id is `<channel>:<id of the channel's own>`, so that each is taken once. Times are epoch ms. */
export const messageSchema = z.object({
  /** By its name in the settings, or `TERMINAL`. */
  channel: z.string(),
  /** The channel's own id of the sender. */
  sender: z.string(),
  /** For people only: never authority. */
  name: z.string(),
  /** Where it was written, and where its answer goes: the channel's own id of a room or a thread. */
  place: z.string(),
  text: z.string(),
  attachments: z.array(attachmentSchema),
  at: z.number().int(),
  /** Nothing is done with it: its sender gets this as the answer; empty: none. */
  refused: z.string().optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** A model’s reading of a message. Only the run that read it writes this record. */
export const readingSchema = z.object({ intent: intentSchema, at: z.number().int() });
export type Reading = z.infer<typeof readingSchema>;

/** The messages that one run of the orchestrator has to read. Written before that run begins, under an id such as `ask-7`. */
export const askSchema = z.object({ run: z.string(), messages: z.array(z.string()), at: z.number().int() });

/** The end of a message, so far. Only the step that acts on messages writes this record. */
export const outcomeSchema = z.object({
  /** `waits`: for its sender's yes. */
  state: z.enum(['waits', 'done', 'refused', 'dropped']),
  /** The request that it made or joined. */
  request: z.string().optional(),
  at: z.number().int(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

/** How far a place of a channel is taken. Written with the message that moves it. */
export const cursorSchema = z.object({ after: z.string() });
