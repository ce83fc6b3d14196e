import { z } from 'zod';
import { failureSchema } from './failure.ts';
import { jsonSchema } from '../text/json-schema.ts';
import { sessionRefSchema } from './session-ref.ts';
import { toolErrorSchema } from './tool-error.ts';
import { usageSchema } from './usage.ts';

/** How a turn ended. `refused`: squad or the adapter refused a setting before anything ran. */
export const OUTCOMES = ['completed', 'failed', 'cancelled', 'timed-out', 'refused'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The one result of a turn. */
export const turnResultSchema = z.object({
  outcome: z.enum(OUTCOMES),
  /** Absent only if the runtime never announced one. */
  session: sessionRefSchema.optional(),
  /** The final answer, not the running commentary. */
  text: z.string(),
  /** Present only if it passed squad's check against the request's schema. */
  structured: jsonSchema.optional(),
  /** Tool calls that were refused. A turn with denials can still say "done"; the engine decides what that means. */
  denials: z.array(z.object({ tool: z.string(), message: z.string().optional() })),
  /** The last tool calls that failed or were refused, and were not repeated with success. Added by the engine; absent: none. */
  toolErrors: z.array(toolErrorSchema).optional(),
  /**
   * Tools that were used, without those that were denied or only gave the answer. null: the runtime does not report its tools. Added by
   * the engine.
   */
  tools: z.number().int().nullable().optional(),
  /** The commands that a turn which owes an answer ran, shortened. Added by the engine; absent: not known, or too many. */
  commands: z.array(z.string()).optional(),
  /** This turn alone. Absent means unknown, which is never zero. */
  usage: usageSchema.optional(),
  steps: z.number().int().optional(),
  /** Set unless the outcome is `completed`. */
  failure: failureSchema.optional(),
  exit: z.object({ code: z.number().int().nullable(), signal: z.string().nullable() }).optional(),
  /** The last 4 KiB, for people. */
  stderrTail: z.string(),
  startedAt: z.number().int().optional(),
  durationMs: z.number().int().nonnegative(),
});
export type TurnResult = z.infer<typeof turnResultSchema>;
