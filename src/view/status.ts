import { z } from 'zod';
import { diskUseSchema } from '../model/disk-use.ts';
import { RUN_ENDS, RUN_PHASES, phaseOf } from '../model/run-state.ts';
import { shownStageSchema } from '../model/shown-stage.ts';
import {
  planPartSchema,
  runPartSchema,
  runViewSchema,
  tasksPartSchema,
  usePartSchema,
  waitsPartSchema,
  type RunView,
} from './run-view.ts';
import { sharedLimitsViewSchema } from './shared-limits.ts';
import { shownTeamSchema } from './sprint/shown-team-schema.ts';
import { usageCountSchema } from './usage-count.ts';

const count = z.int().nonnegative();

/** `next`: null if nothing that is known now will be due. */
const tidyingNoticeSchema = z.strictObject({
  /** Runs with output, older checkpoints, copied files and reports that are due. */
  ...{ output: count, checkpoints: count, copies: count, reports: count },
  ...{ refs: count, branches: count, backups: count },
  next: z.strictObject({ at: z.int(), key: z.string(), run: z.string() }).nullable(),
});
export type TidyingNotice = z.infer<typeof tidyingNoticeSchema>;

/** The output of `squad status --json`: API. Times are epoch ms. null means unknown, which is not zero. */
export const runStatusSchema = z.strictObject({
  ...runPartSchema.shape,
  phase: z.enum(RUN_PHASES),
  /** null until the run has finished. */
  outcome: z.enum(RUN_ENDS).nullable(),
  /** The result in one line; null if the run is not over. */
  headline: z.string().nullable(),
  /** The exit code of the command that drove the run; null if the run is not over. */
  exitCode: z.int().nullable(),
  /** Only for playbooks with stages: the live one, else the one that failed, else the next one, else the last one. */
  stage: z.string().optional(),
  /** Stages that have ended, in their order, without those that were cancelled. */
  stageHistory: z.array(z.string()).optional(),
  /** All of them, in their order. */
  stages: z.array(shownStageSchema).optional(),
  ...planPartSchema.shape,
  tasks: tasksPartSchema,
  turns: usageCountSchema.turns,
  ...usePartSchema.shape,
  /** Engine time over all segments. Suspended time does not count. */
  elapsedSeconds: z.int().nonnegative(),
  maxSeconds: z.number().positive(),
  ...waitsPartSchema.shape,
  /** null: the run has no mailbox. */
  mail: runViewSchema.shape.mail,
  /** Limits of all runs of the repository together. Absent: none are set. */
  sharedLimits: sharedLimitsViewSchema.optional(),
  /** The team whose run it is. Absent: it is of none. */
  team: shownTeamSchema.optional(),
  /** Commands that continue from here, the most likely first. */
  next: z.array(z.string()),
  /** The space that squad takes on the disk for the repository; null: it was not measured yet. Only from the command line. */
  disk: diskUseSchema.nullable().optional(),
  /** How much the next tidying takes, and what a later one begins with. Only from the command line. */
  tidying: tidyingNoticeSchema.optional(),
});
export type RunStatus = z.infer<typeof runStatusSchema>;

export function statusOf({ run, plan, stages, tasks, turns, use, waits, mail, next, end }: RunView): RunStatus {
  const { state, need: _need, delivers: _delivers, ...about } = run;
  const { stage, tasks: _tasks, reviews: _reviews, base: _base, delivered: _delivered, ...planned } = plan;
  const { elapsedMs, ...used } = use;
  return {
    ...about,
    phase: phaseOf(state),
    outcome: end?.outcome ?? null,
    headline: end?.headline ?? null,
    exitCode: end?.exitCode ?? null,
    ...(stage === null ? {} : { stage: stage.id, stageHistory: endedIn(stages), stages }),
    ...planned,
    tasks,
    turns,
    ...used,
    elapsedSeconds: Math.floor(elapsedMs / 1000),
    maxSeconds: use.limits.minutes * 60,
    ...waits,
    mail,
    next,
  };
}

function endedIn(stages: RunView['stages']): string[] {
  return stages.flatMap(({ id, state }) => (NOT_ENDED.has(state) ? [] : [id]));
}

const NOT_ENDED: ReadonlySet<string> = new Set(['waiting', 'live', 'cancelled']);
