import type { z } from 'zod';
import type { draftSchema, messageSchema } from './envelope.ts';

/** What a sender may write. Everything else of a message the router makes itself, from what it knows of the sender. */
export type MailDraft = Readonly<z.infer<typeof draftSchema>>;

/** A message as it is kept and as readers get it. */
export type MailMessage = Readonly<z.infer<typeof messageSchema>>;
