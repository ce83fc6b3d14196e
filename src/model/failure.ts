import { z } from 'zod';

/** Why a turn did not complete. Only the adapter reads native errors and decides it. */
export const FAILURE_KINDS = [
  // try again later, in the same session
  'rate-limited',
  'overloaded',
  'server-error',
  'network',
  'stalled',
  // wait for a date or a person
  'quota-exhausted',
  'auth',
  'billing',
  // the request has to change
  'context-overflow',
  'output-truncated',
  'model-refused',
  'model-unavailable',
  'bad-request',
  'bad-output',
  // a limit the caller set
  'step-limit',
  'cost-limit',
  'wall-timeout',
  'output-flood',
  // squad or the machine
  'cancelled',
  'session-not-found',
  'session-busy',
  'instructions-changed',
  'setting-unsupported',
  'setup-failed',
  'mcp-unavailable',
  'hook-failed',
  'cli-missing',
  'cli-unsupported',
  'sandbox-unavailable',
  'protocol',
  'crashed',
  'never-started',
  'not-stopped',
  'lost',
] as const;
/** Why a turn failed, in one word. */
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Why a turn failed. */
export const failureSchema = z.object({
  kind: z.enum(FAILURE_KINDS),
  message: z.string(),
  httpStatus: z.number().int().optional(),
  /** Epoch ms at which the runtime says it will work again ("try again at", Retry-After). */
  retryAt: z.number().int().optional(),
  /** The request's setting that has to change, for refusals. */
  setting: z.string().optional(),
  /** false: nothing reached a model, or the runtime says the turn had no effect. true: files may have changed. */
  mayHaveActed: z.boolean(),
});
export type Failure = z.infer<typeof failureSchema>;
