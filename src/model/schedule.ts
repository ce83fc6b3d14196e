import { z } from 'zod';
import { commandSchema, slugSchema } from './settings-text.ts';
import { LONGEST_SLUG } from './slug.ts';

const LONGEST_NAME = LONGEST_SLUG - '-261128-0100z'.length;
const EITHER = 'needs an objective, or under `from` a command that prints it, and not both';

/** A run that the clock starts. */
const scheduleSchema = z
  .strictObject({
    /** Its runs are called so, with the instant of their slot: `nightly-261128-0100z`. */
    name: slugSchema.max(LONGEST_NAME),
    /** Minute, hour, day of month, month and weekday. */
    cron: z.string().min(1).max(100),
    timezone: z.string().min(1).max(100),
    /** A file or a text, as `squad run` takes it. */
    objective: z.string().min(1).max(10_000).optional(),
    /** A command whose output is the objective. Nothing printed: nothing to do. */
    from: commandSchema.optional(),
    playbook: z
      .string()
      .regex(/^[^\s\u0000-\u001f-][^\u0000-\u001f]{0,299}$/, 'is neither the name of a playbook nor a file')
      .optional(),
    /** `active`: while a run of this schedule is open. `unchanged`: while HEAD is the commit of its last run. */
    skipIf: z.enum(['active', 'unchanged']).optional(),
  })
  .refine(({ objective, from }) => (objective === undefined) !== (from === undefined), EITHER);
export type Schedule = z.infer<typeof scheduleSchema>;

export const schedulesSchema = z.array(scheduleSchema).min(1).max(100).optional();

export const SCHEDULES_EXAMPLE =
  'schedules:\n  - { name: nightly, cron: "0 2 * * *", timezone: Europe/Berlin, objective: nightly.md, skipIf: unchanged }';
