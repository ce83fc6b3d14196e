import { z } from 'zod';
import { VERBS } from './verbs.ts';

/** One text of a sender, and what may be read out of it. */
const readableSchema = z.object({
  /** Short, for the model: `m-1`. */
  id: z.string(),
  /** The id of its record. */
  message: z.string(),
  text: z.string(),
  /** Names of its attachments. */
  files: z.array(z.string()),
  verbs: z.array(z.enum(VERBS)),
});

/** A run that reads messages is frozen with this. All of them are of one sender: no text can speak for another one. */
export const readingOptionsSchema = z.object({
  messages: z.array(readableSchema),
  /** Requests that can be cancelled, and their beginnings. */
  requests: z.array(z.object({ id: z.string(), text: z.string() })),
  /** Runs that ask, and what. */
  runs: z.array(z.object({ name: z.string(), asks: z.array(z.string()) })),
  /** Names of actions, and what people say of them. */
  actions: z.array(z.object({ name: z.string(), says: z.string() })),
  /** The active sprint; null: there is none. */
  sprint: z.string().nullable(),
});
export type ReadingOptions = z.infer<typeof readingOptionsSchema>;
