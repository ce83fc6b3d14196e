import { z } from 'zod';

/** A text for people that is due in one place of a channel. Its id is chosen by what it says, so that it is said once. Never changes. */
export const replySchema = z.object({
  channel: z.string(),
  place: z.string(),
  /** Where it goes if that place is gone: to this sender directly, then to the channel's report place. */
  sender: z.string().optional(),
  text: z.string(),
  /** Epoch ms. */
  at: z.number().int(),
});
export type Reply = z.infer<typeof replySchema>;

/** How far its delivery is. Only the one that posts writes this record. */
export const deliverySchema = z.object({
  state: z.enum(['due', 'posted', 'refused']),
  tries: z.number().int(),
  /** Epoch ms: not before. */
  retryAt: z.number().int().optional(),
  /** Epoch ms of the first try of the part that is next: it may have come through. On record before that try. */
  triedAt: z.number().int().optional(),
  /** Parts of it that are posted: a long text goes out as several. */
  parts: z.number().int(),
  /** Where it was posted, if not in its own place. */
  instead: z.string().optional(),
  why: z.string().optional(),
});
export type Delivery = z.infer<typeof deliverySchema>;
