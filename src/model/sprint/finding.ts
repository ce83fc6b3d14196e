import { z } from 'zod';
import { ITEM_KINDS } from './item.ts';

/** Something that the sourcer has found, and that a planner may make an item of. Its id is its fingerprint. */
export const findingSchema = z.object({
  source: z.enum(['request', 'failed-result', 'dirty-path', 'log', 'discovery', 'blocked-item']),
  /** One line. */
  title: z.string(),
  /** The text that was found, as it is. */
  detail: z.string(),
  /** Epoch ms. */
  firstSeen: z.number().int(),
  /** An item as the sourcer would make it, or squad's rule where none did; null: none. A planner has reviewed it. */
  candidate: z
    .object({
      by: z.enum(['sourcer', 'rule']),
      title: z.string(),
      kind: z.enum(ITEM_KINDS),
      priority: z.number().int(),
    })
    .nullable()
    .optional(),
  /** The item that a planner made of it, or decided that it is none. */
  settled: z.string().optional(),
});
export type Finding = z.infer<typeof findingSchema>;
