import { z } from 'zod';

/** The first line that a worker writes to the process of a run. */
export const orderSchema = z.object({
  claim: z.object({ run: z.string(), worker: z.string(), epoch: z.int() }),
  /** Folder of mirrors and checkouts. */
  repos: z.string(),
  /** For how long the claim holds from now on. */
  leaseMs: z.number(),
});
export type SegmentOrder = z.infer<typeof orderSchema>;

/** Each later line. `drain`: hand the run on once its turns have ended. `leave`: hand it on now. `lost`: another worker may have it. */
export const workerLineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('kept'), ms: z.number() }),
  z.object({ type: z.literal('lost') }),
  z.object({ type: z.literal('drain') }),
  z.object({ type: z.literal('leave') }),
]);
export type WorkerLine = z.infer<typeof workerLineSchema>;
