import { z } from 'zod';
import { jsonSchema } from '../../text/json.ts';
import { MAIL_ACTIONS } from '../mail/kind.ts';
import { MAIL_TYPES } from '../mail/vocabulary.ts';
import { planChangeSchema } from './change.ts';
import { gateFactsSchema } from './gate.ts';
import { interventionSchema } from './intervention.ts';
import { CAUSES } from './task.ts';

/** The engine checked the run branch before the run may end. A playbook gets only a refusal. */
export const gateCheckedSchema = z.object({ type: z.literal('gate-checked'), facts: gateFactsSchema });

/** The result of putting the run branch back. `head`: its commit now (null: gone). `paths`: where it is checked out. */
export const branchRestoredSchema = z.object({
  type: z.literal('branch-restored'),
  restored: z.boolean(),
  head: z.string().nullable(),
  paths: z.array(z.string()),
});

/** What a playbook hears. Every task ends in exactly one of the first three, each time it was opened. */
export const planNewsSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('task-done'),
    task: z.string(),
    output: jsonSchema.optional(),
    commit: z.string().optional(),
    /** What a reviewer saw beyond the criteria after the first round: work for later, not a reason to reject. */
    followUps: z.array(z.string()),
  }),
  z.object({
    type: z.literal('task-failed'),
    task: z.string(),
    cause: z.enum(CAUSES),
    why: z.string(),
    /** Of every round, oldest first. */
    feedback: z.array(z.string()),
  }),
  z.object({ type: z.literal('task-skipped'), task: z.string(), why: z.string() }),
  /** Information; the engine has already routed it. */
  z.object({
    type: z.literal('review-round'),
    task: z.string(),
    round: z.number().int(),
    commit: z.string(),
    approved: z.boolean(),
    feedback: z.string(),
    /** false: the same findings as in the round before. */
    converging: z.boolean(),
  }),
  z.object({
    type: z.literal('mail'),
    id: z.string(),
    /** Addresses. */
    from: z.string(),
    to: z.array(z.string()),
    action: z.enum(MAIL_ACTIONS).optional(),
    kind: z.enum(MAIL_TYPES),
    task: z.string().optional(),
    corr: z.string().optional(),
    /** What `corr` points at; its key, where a playbook sent it. */
    re: z
      .object({
        id: z.string(),
        key: z.string().optional(),
        from: z.string(),
        action: z.enum(MAIL_ACTIONS).optional(),
        task: z.string().optional(),
      })
      .optional(),
    /** The task whose turn sent it; absent: a person did. */
    via: z.string().optional(),
    /** null where it is no JSON, or too large to plan with. */
    body: jsonSchema,
    fingerprint: z.string(),
  }),
  /** An ask that this recipient did not answer in its time, or an assignment past its deadline. */
  z.object({
    type: z.literal('overdue'),
    message: z.string(),
    to: z.string(),
    action: z.enum(MAIL_ACTIONS).optional(),
    key: z.string().optional(),
    task: z.string().optional(),
  }),
  z.object({ type: z.literal('answer'), question: z.string(), answer: z.string(), by: z.string() }),
  z.object({ type: z.literal('timer'), id: z.string() }),
  gateCheckedSchema,
  /** The run may not end yet because of these problems on its branch. `refused` counts the refusals, from 1. */
  z.object({ type: z.literal('gate-refused'), refused: z.number().int(), problems: z.array(z.string()) }),
  branchRestoredSchema,
  /** A person's request into a running run. */
  z.object({ type: z.literal('request'), id: z.string(), text: z.string(), fingerprint: z.string() }),
  z.object({ type: z.literal('refused'), change: planChangeSchema, why: z.string() }),
  /** A person's hand on the run. The engine does what it says; a playbook hears only what became of tasks. */
  z.object({ type: z.literal('intervention'), intervention: interventionSchema, by: z.string() }),
]);
export type PlanNews = z.infer<typeof planNewsSchema>;

/** `seq` of the input that led to it; several events of one input share it. `at` is the only clock a playbook has. */
export const planEventSchema = z.intersection(
  z.object({ seq: z.number().int(), at: z.number().int() }),
  planNewsSchema,
);
export type PlanEvent = { seq: number; at: number } & PlanNews;
