import { z } from 'zod';
import { someLimitsSchema } from '../limits.ts';
import { criterionSchema } from '../objective.ts';
import { doubtfulSchema } from './baseline.ts';
import { settingsSchema } from '../settings.ts';
import { requestSchema } from './verbs.ts';

/** In one round of a pull request. */
const MOST_PROBLEMS = 30;
/** Characters of one. */
export const MOST_PROBLEM = 9_000;

/**
 * An operator's command to a run, stored as an input. Every process that can write the ledger may give one; no agent's text ever becomes
 * one.
 */
export const interventionSchema = z.discriminatedUnion('verb', [
  ...requestSchema.options,
  /** Running turns are ended now, and then the engine. */
  z.object({ verb: z.literal('stop') }),
  /**
   * A run that is over gets work again by its pull request. Written by squad alone: `problems` quote checks and people, so they are data.
   */
  z.object({
    verb: z.literal('rework'),
    problems: z.array(z.string().max(MOST_PROBLEM)).max(MOST_PROBLEMS),
    /** The branch of the pull request's base has moved to this commit. Absent: there are problems. */
    base: z.object({ branch: z.string(), commit: z.string() }).optional(),
  }),
  /** The commands and limits that `squad.yaml` has now replace those that the run began with, and so do commands of criteria. */
  z.object({
    verb: z.literal('reload'),
    setup: settingsSchema.shape.setup,
    verify: settingsSchema.shape.verify,
    /** Absent: as before. */
    env: settingsSchema.shape.env.unwrap().optional(),
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
