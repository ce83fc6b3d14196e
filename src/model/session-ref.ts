import { z } from 'zod';
import { usageSchema } from './usage.ts';

/** A runtime's resumable conversation, as plain data. Opaque to callers; only the adapter that made it reads it. */
export const sessionRefSchema = z.object({
  /** The runtime that made it. Other runtimes refuse it. */
  runtime: z.string(),
  id: z.string(),
  /** State directory of the agent: the user's own, with the login, or a private one. A resume needs the same one. */
  home: z.string(),
  /** The folder of the last turn. A resume elsewhere says so in its prompt. */
  workspace: z.string(),
  /** Counters at the end of the last turn, if the runtime counts from the start of the session. */
  counters: usageSchema.optional(),
  /** claude and codex keep the first turn's instructions and silently ignore later ones, so squad refuses a mismatch. */
  instructionsHash: z.string(),
});
export type SessionRef = z.infer<typeof sessionRefSchema>;
