import { z } from 'zod';
import { attachmentSchema } from './request.ts';
import { SPRINT_STATES, TODO_STATES } from './states.ts';

/** The beginning of a sprint. It never changes: what the planner makes of it is kept beside it. */
export const kickoffSchema = z.object({
  milestone: z.string(),
  /** The requirements in the words of the person who started it, or the items that it was started for. */
  text: z.string(),
  items: z.array(z.string()),
  attachments: z.array(attachmentSchema),
  /** Who started it: a person, a slot of the clock, or a backlog that was ready. */
  by: z.string(),
  trigger: z.enum(['person', 'slot', 'backlog']),
  /** The message that asked for it. */
  key: z.string().optional(),
});
export type Kickoff = z.infer<typeof kickoffSchema>;

/** The words of a kickoff, by which roles are scored. */
export function kickoffWords({ kickoff: { milestone, text } }: { readonly kickoff: Kickoff }): string {
  const more = text.trim() === '' || text.trim() === milestone.trim() ? [] : [text.trim()];
  return [`Milestone: ${milestone}`, ...more].join('\n\n');
}

/** Written once, when a sprint is opened, by what opens it. Times are epoch ms. */
export const sprintSchema = z.object({
  kickoff: kickoffSchema,
  /** The id of its run. */
  run: z.string(),
  /** The commit that it begins with. */
  base: z.string(),
  at: z.number().int(),
  /** It wraps up then; null: when its todos are done. */
  until: z.number().int().nullable(),
});
export type Sprint = z.infer<typeof sprintSchema>;

const todoSchema = z.object({
  /** An id of its own, which the tasks of its chain begin with. */
  id: z.string(),
  item: z.string(),
  title: z.string(),
  state: z.enum(TODO_STATES),
  commit: z.string().optional(),
  /** Why it is blocked or failed. */
  why: z.string().optional(),
  required_inputs: z.array(z.string()).optional(),
  /** How often a role reopened it, by category. */
  reopened: z.record(z.string(), z.number().int()).optional(),
  /** Changes of `spec.md` for it, and notes for `iteration_log.md`, by its planner. */
  spec_changes: z.array(z.string()).optional(),
  iteration_note: z.string().optional(),
});
export type Todo = z.infer<typeof todoSchema>;

/** Whether nothing is left to do of it: its work is delivered, or it needed none. */
export function isTodoDone({ state }: Pick<Todo, 'state'>): boolean {
  return state === 'committed' || state === 'completed';
}

/** Who does a step of the workflow. */
const routedSchema = z.object({
  step: z.string(),
  role: z.string(),
  /** Its strengths that the kickoff names. */
  strengths: z.array(z.string()),
  skills: z.array(z.string()),
  expected: z.string(),
  /** Why the order by score was left. */
  override: z.string().optional(),
});

/** How far the sprint is. Only its own run writes it. */
export const sprintProgressSchema = z.object({
  state: z.enum(SPRINT_STATES),
  /** The milestone in the planner's words. */
  title: z.string().optional(),
  /** The stage at work. */
  phase: z.string(),
  /** `planning_incomplete`, or why it is blocked or failed. */
  reason: z.string().optional(),
  todos: z.array(todoSchema),
  research: z.unknown().optional(),
  report: z.unknown().optional(),
  /** Who does each step, and what the policy says of them. */
  routing: z.array(routedSchema).optional(),
  at: z.number().int(),
});
export type SprintProgress = z.infer<typeof sprintProgressSchema>;

/** Its end on the line of work. Written once, after its run is over and the line has moved. */
export const sprintEndSchema = z.object({
  outcome: z.enum(['completed', 'failed', 'blocked']),
  reason: z.string().optional(),
  /** The head of the line after it; null: it delivered nothing. */
  head: z.string().nullable(),
  /** The branch that was the line then. */
  line: z.string().optional(),
  at: z.number().int(),
});
export type SprintEnd = z.infer<typeof sprintEndSchema>;

/** For people, behind its name. */
export function endedAs({ outcome }: Pick<SprintEnd, 'outcome'>): string {
  return outcome === 'failed' ? 'has failed' : `is ${outcome}`;
}

/** A person ends it early. It starts no more todos; `now`: those at work are ended, too. */
export const sprintStopSchema = z.object({
  at: z.number().int(),
  by: z.string(),
  now: z.boolean(),
  /** The message that asked for it. */
  key: z.string().optional(),
});
export type SprintStop = z.infer<typeof sprintStopSchema>;
