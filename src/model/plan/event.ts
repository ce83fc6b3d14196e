import { z } from 'zod';
import type { Json } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { MAIL_ACTIONS } from '../mail/kind.ts';
import { MAIL_TYPES } from '../mail/vocabulary.ts';
import type { PlanChange } from './change.ts';
import { baselineFactsSchema } from './baseline.ts';
import { gateFactsSchema } from './gate.ts';
import { interventionSchema } from './intervention.ts';
import type { Cause } from './task.ts';

/** squad checked the run branch before it lets the run end. A playbook hears only a refusal. */
export const gateCheckedSchema = z.object({ type: z.literal('gate-checked'), facts: gateFactsSchema });

/** The engine ran `setup` and `verify` on the base commit. A playbook does not hear of it. */
export const baselineCheckedSchema = z.object({ type: z.literal('baseline-checked'), facts: baselineFactsSchema });

/** The result of putting the run branch back. `head`: its commit now (null: gone). `paths`: where it is checked out. */
export const branchRestoredSchema = z.object({
  type: z.literal('branch-restored'),
  restored: z.boolean(),
  head: z.string().nullable(),
  paths: z.array(z.string()),
});

/** Stored events from outside. */
const planNewsSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('mail'),
    id: z.string(),
    from: z.string(),
    to: z.array(z.string()),
    action: z.enum(MAIL_ACTIONS).optional(),
    kind: z.enum(MAIL_TYPES),
    task: z.string().optional(),
    corr: z.string().optional(),
    /** The message that `corr` names, with its key if a playbook sent it. */
    re: z
      .object({
        id: z.string(),
        key: z.string().optional(),
        from: z.string(),
        action: z.enum(MAIL_ACTIONS).optional(),
        task: z.string().optional(),
      })
      .optional(),
    /** The task whose turn sent it. Absent: a person sent it. */
    via: z.string().optional(),
    /** null if it is no JSON or too large to plan with. */
    body: jsonSchema,
  }),
  /** This recipient did not answer in time, or an assignment is past its deadline. */
  z.object({
    type: z.literal('overdue'),
    message: z.string(),
    to: z.string(),
    action: z.enum(MAIL_ACTIONS).optional(),
    key: z.string().optional(),
    task: z.string().optional(),
  }),
  /** `paths`: what the task of the agent that asked may change too. */
  z.object({
    type: z.literal('answer'),
    question: z.string(),
    answer: z.string(),
    paths: z.array(z.string()).exactOptional(),
    by: z.string(),
  }),
  z.object({ type: z.literal('timer'), id: z.string() }),
  gateCheckedSchema,
  baselineCheckedSchema,
  branchRestoredSchema,
  /** The operator's command. A playbook hears only how it ends tasks. */
  z.object({ type: z.literal('intervention'), intervention: interventionSchema, by: z.string() }),
  /** The machine's clock was set back by this many ms. */
  z.object({ type: z.literal('clock-set-back'), ms: z.number().nonnegative() }),
]);
export type PlanNews = z.infer<typeof planNewsSchema>;

const momentSchema = z.object({ seq: z.number().int(), at: z.number().int() });
type Moment = z.infer<typeof momentSchema>;

/** `seq`: of the input; several events of one input share it. */
export const planEventSchema = z.intersection(momentSchema, planNewsSchema);
export type PlanEvent = Moment & PlanNews;

/** Mail and timers that concern it, and what the engine made of its plan. A task ends once each time it is opened. */
export type PlaybookNews =
  | Extract<PlanNews, { type: 'mail' | 'overdue' | 'timer' }>
  | TaskEnded
  /** The run may not end yet because of these problems of its branch, or its pull request has them. `refused` counts from 1. */
  | {
      readonly type: 'gate-refused';
      readonly refused: number;
      readonly problems: readonly string[];
      readonly from?: 'pull-request';
    }
  /** The answer to a question that the playbook asked. */
  | { readonly type: 'answered'; readonly question: string; readonly answer: string; readonly by: string }
  | { readonly type: 'refused'; readonly change: PlanChange; readonly why: string };

export type TaskEnded =
  | {
      readonly type: 'task-done';
      readonly task: string;
      readonly output?: Json;
      readonly commit?: string;
      /** Findings beyond the criteria after the first round: work for later, not a reason to reject. */
      readonly followUps: readonly string[];
    }
  /** `feedback`: of every round, oldest first. `category`: a rejection leads to the playbook, before the last round. */
  | {
      readonly type: 'task-failed';
      readonly task: string;
      readonly cause: Cause;
      readonly why: string;
      readonly feedback: readonly string[];
      readonly category?: string;
    }
  | { readonly type: 'task-skipped'; readonly task: string; readonly why: string };

/** An event that a playbook hears. `at` is its only clock. */
export type PlaybookEvent = Moment & PlaybookNews;
