import { z } from 'zod';
import { timetableProblem } from '../../text/cron.ts';
import { isTimeZone } from '../../text/zoned-time.ts';
import { commandSchema, folderPathSchema, slugSchema } from '../settings-text.ts';

/** As git allows it, without what only few people mean. */
const BRANCH = /^(?!squad\/)(?!.*(?:\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$))[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/;

function requireCron(cron: string, context: z.RefinementCtx): void {
  const problem = timetableProblem({ cron, timezone: 'UTC' });
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem.why });
}

const discoverySchema = z.union(
  [commandSchema, z.strictObject({ action: slugSchema, args: z.array(z.string().max(1_000)).max(20).default([]) })],
  { error: 'must be a command, or `{ action: NAME, args: [] }`' },
);
export type Discovery = z.infer<typeof discoverySchema>;

/** The section `sprint` of `squad.yaml`. */
export const sprintSettingsSchema = z.strictObject({
  /** The folder of the team's files, from the root of the repository. Absent: no files are written. */
  folder: folderPathSchema.optional(),
  /** The line of work: a sprint begins at its head, and its work ends there. */
  branch: z
    .string()
    .regex(BRANCH, 'is no name for the line, such as sprints; branches below squad/ are those of runs')
    .default('sprints'),
  /** Ids, times and slots are in this zone. */
  timezone: z.string().refine(isTimeZone, 'is no time zone, such as Europe/Berlin or UTC').default('Asia/Seoul'),
  /** `hybrid`: a sprint starts as soon as the backlog has work, and at each slot. `slots`: only at slots. `person`: only by command. */
  start: z.enum(['hybrid', 'slots', 'person']).default('hybrid'),
  /** Five fields of cron. Absent: there are no slots. */
  slots: z.string().superRefine(requireCron).optional(),
  /** `todos`: a person approves the todos of each sprint. */
  approve: z.literal('todos').optional(),
  /** A sprint that the scheduler starts wraps up after so many minutes. Absent: when its todos are done. */
  minutes: z.number().int().min(1).max(43_200).optional(),
  /** The most todos of one sprint. */
  maxTodos: z.number().int().min(1).max(50).default(10),
  /** How often the planner may ask designer and architect, for each of its stages and todos. */
  advice: z.number().int().min(0).max(20).default(2),
  /** Commands and actions whose failure, and whose output as lines, are findings. */
  discovery: z.array(discoverySchema).max(20).default([]),
});
export type SprintSettings = z.infer<typeof sprintSettingsSchema>;

export const SPRINT_EXAMPLE = 'sprint: { folder: team, timezone: Europe/Berlin, slots: "0 9 * * 1-5" }';
