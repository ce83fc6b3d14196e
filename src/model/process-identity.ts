import { z } from 'zod';

/** Identifies one process for ever, because systems reuse pids. Source: the wrapper's entry in the process table. */
export const processIdentitySchema = z.object({
  pid: z.number().int().positive(),
  /** In the kernel's own unit since boot (Linux: clock ticks), compared for equality only. */
  startTime: z.string(),
  bootId: z.string(),
  /** Value of SQUAD_TURN_ID in the environment of everything the turn starts. */
  marker: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;
