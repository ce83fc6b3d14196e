import { z } from 'zod';

/** Names one process for ever: a pid alone is reused. Source: the wrapper's own entry in the process table. */
export const processIdentitySchema = z.object({
  pid: z.number().int().positive(),
  /** In the kernel's own unit since boot (Linux: clock ticks), compared for equality only. */
  startTime: z.string(),
  bootId: z.string(),
  /** Value of SQUAD_TURN_ID in the environment of everything the turn starts. */
  marker: z.string(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;
