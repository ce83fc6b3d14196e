import { z } from 'zod';
import { usageError } from '../model/errors.ts';
import { someLimitsSchema } from '../model/limits.ts';
import type { RunChoices } from '../squad/preflight/preflight.ts';
import type { WrittenObjective } from '../squad/preflight/read-input.ts';
import type { RunOptions } from '../squad/run.ts';

/**
 * A run to start, as plain data. An absent option comes from the objective, from `squad.yaml`, or is a default of
 * squad.
 */
export interface SquadRequest extends Omit<RunChoices, 'allowFullAccess' | 'plan'> {
  /** A path, absolute or from the squad's `cwd`; or the text itself. No folder: data of a state names none to write into. */
  readonly objective: WrittenObjective;
}

export const squadRequestSchema: z.ZodType<SquadRequest> = z.strictObject({
  objective: z.union([z.string(), z.strictObject({ text: z.string(), from: z.string().optional() })]),
  playbook: z.string().optional(),
  tries: z.int().optional(),
  runtime: z.string().optional(),
  models: z.record(z.string(), z.string()).optional(),
  name: z.string().optional(),
  limits: someLimitsSchema.optional(),
  strict: z.boolean().optional(),
});

/** Throws `usage` for what is no request. */
export function checkRequest(given: SquadRequest): SquadRequest {
  const parsed = squadRequestSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw usageError(
    `${['the request', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'cannot be used'}`,
    'docs/embedding.md lists what a request may have.',
  );
}

/** How an application runs squad: what is the same for all its runs, and no data of a state may decide. */
export interface EmbedOptions extends Pick<RunOptions, 'trust' | 'allowFullAccess' | 'plan' | 'patienceMs'> {
  /**
   * Where the application traces the call in LangSmith, its trace shows the turns, checks and tool calls of the run below the node
   * that drives it: ids, names, times, outcomes and use, and no content. Default: true.
   */
  readonly nestTrace?: boolean | undefined;
}
