import { z } from 'zod';
import { someLimitsSchema } from '../limits.ts';
import { criterionSchema } from '../objective.ts';
import { doubtfulSchema } from './baseline.ts';
import { runtimeNameSchema, settingsSchema } from '../settings.ts';

/** `run`, `agent/<name>` or `task/<id>`. */
const scopeSchema = z.string().regex(/^(?:run|(?:agent|task)\/.{1,200})$/);

const why = z.string().max(2_000);

/**
 * An operator's command to a run, stored as an input. Every process that can write the ledger may give one; no agent's text ever becomes
 * one.
 */
export const interventionSchema = z.discriminatedUnion('verb', [
  /** Running turns finish; no new ones start until `resume`. */
  z.object({ verb: z.literal('pause'), on: scopeSchema }),
  z.object({ verb: z.literal('resume'), on: scopeSchema }),
  /** Turns start although the objective's deadline has passed, now and after later resumes. */
  z.object({ verb: z.literal('past-deadline') }),
  /** Running turns finish, no new ones start, and then the engine ends. */
  z.object({ verb: z.literal('drain') }),
  /** Running turns are ended now, and then the engine. */
  z.object({ verb: z.literal('stop') }),
  /** Ends the run or a task for good. */
  z.object({ verb: z.literal('cancel'), on: scopeSchema, why }),
  /**
   * Tries a task again with fresh budgets. `fresh`: in a new session and a reset folder. `note`: feedback for its agent. `agent`: who
   * does it from now on.
   */
  z.object({
    verb: z.literal('retry'),
    task: z.string(),
    fresh: z.boolean(),
    note: why.optional(),
    agent: z.string().max(100).optional(),
  }),
  /** Tasks that need it continue without it. */
  z.object({ verb: z.literal('skip'), task: z.string(), why }),
  /** `done` delivers the work that is there, whatever its reviewers said. */
  z.object({ verb: z.literal('override'), task: z.string(), as: z.enum(['done', 'failed']), why }),
  /** The next turns of an agent or a task use another runtime or model, in a new session. `also`: of others too. */
  z.object({
    verb: z.literal('switch'),
    on: scopeSchema,
    also: z.array(scopeSchema).max(1_000).optional(),
    runtime: runtimeNameSchema,
    model: z.string().max(100).optional(),
  }),
  /** The commands and limits that `squad.yaml` has now replace those that the run began with, and so do commands of criteria. */
  z.object({
    verb: z.literal('reload'),
    setup: settingsSchema.shape.setup,
    verify: settingsSchema.shape.verify,
    /** The limits that `squad.yaml` names, except those that earlier decisions of the plan depend on. */
    limits: someLimitsSchema.omit({ reviewRounds: true, retries: true, walls: true }),
    /** Digest of the commands that the operator trusts; null if there are none. */
    trusted: z.string().nullable(),
    /** All criteria with the commands that their file has now. Absent: the file has nothing new, or there is none. */
    criteria: z.array(criterionSchema).optional(),
    doubtful: doubtfulSchema.optional(),
  }),
]);
export type Intervention = z.infer<typeof interventionSchema>;
export type Reload = Extract<Intervention, { verb: 'reload' }>;
