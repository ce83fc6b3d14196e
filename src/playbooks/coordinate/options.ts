import { z } from 'zod';
import { criterionSchema } from '../../model/objective.ts';

/** Options stored with a run of `squad coordinate`. */
export const coordinateOptionsSchema = z.object({
  /** Absolute, without links. */
  folder: z.string(),
  /** As people read about it: below the top of the checkout if it is there, else absolute. */
  shown: z.string(),
  /** `session_id` */
  id: z.string(),
  team: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
  /** Paths of invalid files in a folder that was begun before. squad replaces them. */
  invalid: z.array(z.string()),
  /** Files of a folder that was begun before: they stay as they are. */
  kept: z.array(z.object({ path: z.string(), text: z.string() })),
  /** The folder was there before: what is missing is added to it. Otherwise it appears whole. */
  isThere: z.boolean(),
  /** The success criteria of the objective, for the run that plays the session. */
  criteria: z.array(criterionSchema),
  /** Options of the command that plays the session. */
  play: z.array(z.string()),
  /** Settings of the objective for which the command has no option. */
  playWithout: z.array(z.string()),
});
export type CoordinateOptions = z.infer<typeof coordinateOptionsSchema>;
