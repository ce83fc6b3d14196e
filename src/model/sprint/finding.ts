import { z } from 'zod';

/** Something that the sourcer has found, and that a planner may make an item of. Its id is its fingerprint. */
export const findingSchema = z.object({
  source: z.enum(['request', 'failed-result', 'dirty-path', 'log', 'discovery', 'blocked-item']),
  /** One line. */
  title: z.string(),
  /** The text that was found, as it is. */
  detail: z.string(),
  /** Epoch ms. */
  firstSeen: z.number().int(),
  /** The item that a planner made of it, or decided that it is none. */
  settled: z.string().optional(),
});
export type Finding = z.infer<typeof findingSchema>;
