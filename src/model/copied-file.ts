import { z } from 'zod';

/** An ignored file of the checkout that folders get in which work is built or checked. Its content is kept under its hash. */
export const copiedFileSchema = z.object({
  /** From the root of the repository. */
  path: z.string(),
  bytes: z.int(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  executable: z.boolean(),
});
export type CopiedFile = z.infer<typeof copiedFileSchema>;

export const MOST_COPIES = 100;
export const MOST_COPY_BYTES = 10 * 1024 * 1024;
export const MOST_COPIED_BYTES = 50 * 1024 * 1024;
