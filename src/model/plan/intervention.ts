import { z } from 'zod';
import { RUNTIME_NAMES } from '../runtime-name.ts';
import { someLimitsSchema } from '../limits.ts';
import { settingsSchema } from '../settings.ts';

/** `run`, `agent/<name>` or `task/<id>`. */
const scopeSchema = z.string().regex(/^(?:run|(?:agent|task)\/.{1,200})$/);

const why = z.string().max(2_000);

/**
 * What a person may do to a run that is under way, or was: stored as an operator's command, and decided on like any other
 * input. Authority comes from whoever may write the ledger; no text of an agent ever becomes one of these.
 */
export const interventionSchema = z.discriminatedUnion('verb', [
  /** Nothing of it starts until it is resumed; what lives may end. */
  z.object({ verb: z.literal('pause'), on: scopeSchema }),
  z.object({ verb: z.literal('resume'), on: scopeSchema }),
  /** Nothing starts any more; once nothing lives its engine ends. */
  z.object({ verb: z.literal('drain') }),
  /** Everything live is ended now, and then the engine. */
  z.object({ verb: z.literal('stop') }),
  /** For good: it is not gone on with. `on` is the run or a task. */
  z.object({ verb: z.literal('cancel'), on: scopeSchema, why }),
  /**
   * Another try at a task that failed, was skipped or cancelled, or is at work; its budgets begin anew. `fresh`: in a new
   * session of its runtime and a folder that is as the run branch is. `note`: told to its agent.
   */
  z.object({ verb: z.literal('retry'), task: z.string(), fresh: z.boolean(), note: why.optional() }),
  /** What needs it goes on without it. */
  z.object({ verb: z.literal('skip'), task: z.string(), why }),
  /** A person's word in place of a verdict. `done`: what is there is delivered, whatever its reviewers said. */
  z.object({ verb: z.literal('override'), task: z.string(), as: z.enum(['done', 'failed']), why }),
  /** Its next turns are taken by another runtime, or model, in a new session. `on` is an agent or a task. */
  z.object({
    verb: z.literal('switch'),
    on: scopeSchema,
    runtime: z.enum(RUNTIME_NAMES),
    model: z.string().max(100).optional(),
  }),
  /** Commands and limits that `squad.yaml` has now. They replace those that the run began with. */
  z.object({
    verb: z.literal('reload'),
    setup: settingsSchema.shape.setup,
    verify: settingsSchema.shape.verify,
    /** The limits that `squad.yaml` names, except those that earlier decisions of the plan depend on. */
    limits: someLimitsSchema.omit({ reviewRounds: true, retries: true, walls: true }),
    /** Digest of the commands that a person agreed to; null if there are none. */
    trusted: z.string().nullable(),
  }),
]);
export type Intervention = z.infer<typeof interventionSchema>;
export type Reload = Extract<Intervention, { verb: 'reload' }>;

export const WHOLE_RUN = 'run';

export function agentScope(name: string): string {
  return `agent/${name}`;
}

export function taskScope(id: string): string {
  return `task/${id}`;
}
