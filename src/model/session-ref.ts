import { z } from 'zod';
import { usageSchema } from './usage.ts';

/** A runtime's resumable conversation, as plain data. Opaque to callers; only the adapter that made it reads it. */
export const sessionRefSchema = z.object({
  /** Name of the runtime that made it; another one refuses it. */
  runtime: z.string(),
  id: z.string(),
  /**
   * State directory of the agent: the user's own (isolated by flags; it holds the login) or a private one (API key,
   * tests). A session can only be resumed with the same one.
   */
  home: z.string(),
  /** Where the last turn ran. A resume elsewhere says so in its prompt. */
  workspace: z.string(),
  /** Counter readings at the end of the last turn, where the runtime counts from the session's start. */
  counters: usageSchema.optional(),
  /** claude and codex keep the first turn's instructions and silently ignore later ones; a mismatch is refused. */
  instructionsHash: z.string(),
});
export type SessionRef = z.infer<typeof sessionRefSchema>;
