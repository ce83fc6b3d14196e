import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import type { Planning, PlanReading, View } from '../plan.ts';
import { newTaskSchema } from './task.ts';

/** Answers to a plan's question that have a meaning of their own. */
export const PLAN_OPTIONS = ['approve', 'stop'] as const;

/** The record of the plan that a person was last asked about. */
export const PROPOSAL = { in: 'approval', id: 'plan' } as const;

const PLANNED = {
  summary: z.string(),
  tasks: z.array(newTaskSchema),
  criteria: z.array(z.object({ text: z.string(), command: z.string().optional() })),
};

export const proposalSchema = z.object({
  /** From 1. */
  number: z.number().int(),
  question: z.string(),
  /** It waits for a decision. */
  open: z.boolean(),
  /** The planner has been asked once to correct its changed plan. */
  fixing: z.boolean(),
  ...PLANNED,
  /** In the planner's own form, as a person edits it. */
  answer: jsonSchema,
  /** Why it is shown again. */
  note: z.string().optional(),
  /** The plan that the person was asked about before. Absent: it is the first one, or the same plan again. */
  before: z.object(PLANNED).optional(),
});
export type Proposal = z.infer<typeof proposalSchema>;
export type ProposedPlan = Pick<Proposal, keyof typeof PLANNED>;

/** A person's answer to a proposed plan. `plan`: undefined if the answer looks like a plan but is not JSON. */
export type PlanAnswer =
  | { readonly say: 'approve' | 'stop' }
  | { readonly say: 'edited'; readonly plan: unknown }
  | { readonly say: 'change'; readonly text: string };

export function readPlanAnswer(answer: string): PlanAnswer {
  const text = answer.trim();
  const option = PLAN_OPTIONS.find((one) => one === text.toLowerCase());
  if (option !== undefined) return { say: option };
  return text.startsWith('{') ? { say: 'edited', plan: parseJson(text) } : { say: 'change', text };
}

/** The answer as a plan of this run. */
export function readPlan(planning: Planning, view: View, answer: unknown): PlanReading {
  const reading = planning.read(view, answer);
  if (!reading.ok) return reading;
  const taken = reading.tasks.filter(({ id }) => view.task(id) !== undefined);
  if (taken.length === 0) return reading;
  return { ok: false, problems: taken.map(({ id }) => `the run has a task ${id} already; give this one another id`) };
}
