import { z } from 'zod';
import { estimateSchema } from './estimate.ts';

/** One difference between two versions of a plan: a task, a field of one, or a criterion. */
const planChangeSchema = z.strictObject({
  change: z.enum(['added', 'removed', 'changed']),
  /** Id of a task; absent: a criterion. */
  task: z.string().optional(),
  /** The field that is changed: `title`, `role`, `agent`, `needs`, `files`, `review`, `brief` or `acceptance`. */
  field: z.string().optional(),
  /** Absent: there was none. */
  before: z.string().optional(),
  /** Absent: there is none. */
  after: z.string().optional(),
});
export type PlanDifference = z.infer<typeof planChangeSchema>;

/** A plan that waits for a person, as they decide on it. */
export const askedPlanSchema = z.strictObject({
  summary: z.string(),
  /** Why it is asked about again. */
  note: z.string().optional(),
  tasks: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      role: z.string(),
      /** Names of those who may do it. */
      agents: z.array(z.string()),
      /** Roles that review it. */
      review: z.array(z.string()),
      needs: z.array(z.string()),
      brief: z.string(),
      /** Files that it makes or may change. */
      files: z.array(z.string()),
      /** Checked by its review. */
      acceptance: z.array(z.string()),
    }),
  ),
  /** `command`: null if a reviewer judges it. `proposed`: by the planner. */
  criteria: z.array(z.strictObject({ text: z.string(), command: z.string().nullable(), proposed: z.boolean() })),
  /** Run as checks, besides those of the criteria. */
  commands: z.array(z.strictObject({ for: z.enum(['setup', 'verify']), run: z.string() })),
  /** Most that the run may use. `tokens`: null if there is no limit. */
  limits: z.strictObject({ usd: z.number(), turns: z.number(), minutes: z.number(), tokens: z.number().nullable() }),
  /** A forecast by earlier runs. null: there are too few. Absent: nothing was looked up. */
  estimate: estimateSchema.nullable().optional(),
  /** How it differs from the plan that was asked about before. Absent: it is the first one. */
  changes: z.array(planChangeSchema).optional(),
});
export type AskedPlan = z.infer<typeof askedPlanSchema>;

/** An open question. `plan`: what is asked about, of a question whether to approve it. */
export const askedQuestionSchema = z.strictObject({
  id: z.string(),
  text: z.string(),
  options: z.array(z.string()),
  plan: askedPlanSchema.optional(),
});
export type AskedQuestion = z.infer<typeof askedQuestionSchema>;
