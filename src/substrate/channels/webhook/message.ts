import { z } from 'zod';
import type { IncomingMessage } from '../../ports/channel.ts';

const name = z.string().min(1).max(200);

const schema = z.object({
  /** The sender's own, and another one for each message. */
  id: name,
  sender: name,
  name: z.string().max(200).optional(),
  place: name.optional(),
  text: z.string(),
});

/** A message of the inbox; or why it is none. */
export function messageIn(value: unknown, at: number): IncomingMessage | { readonly problem: string } {
  const read = schema.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is no message'}` };
  }
  const { id, sender, text, name: called = sender, place = 'inbox' } = read.data;
  return { id, sender, name: called, place, text, isToUs: true, attachments: [], at };
}

export const pageSchema = z.object({
  /** That of the question: an older answer cannot be played again. */
  nonce: z.string(),
  messages: z.array(z.looseObject({ id: name, at: z.number().optional() })).max(1_000),
});
