import { z } from 'zod';
import { ITEM_STATES, SPRINT_STATES, TODO_STATES } from '../../model/sprint/states.ts';

const todoSchema = z.strictObject({
  ...{ id: z.string(), item: z.string(), title: z.string(), state: z.enum(TODO_STATES) },
  commit: z.string().nullable(),
  /** Why it is blocked or failed, and what it waits for. */
  why: z.string().nullable(),
  waitsFor: z.array(z.string()),
});
export type ShownTodo = z.infer<typeof todoSchema>;

const sprintSchema = z.strictObject({
  id: z.string(),
  run: z.string(),
  state: z.enum(SPRINT_STATES),
  phase: z.string().nullable(),
  milestone: z.string(),
  /** The milestone in the planner's words. */
  title: z.string().nullable(),
  reason: z.string().nullable(),
  todos: z.array(todoSchema),
});
export type ShownSprint = z.infer<typeof sprintSchema>;

/** A team next to one of its runs: API, in `squad status`. null: there is none. */
export const shownTeamSchema = z.strictObject({
  /** The sprint of that run; else the active one. */
  sprint: sprintSchema.nullable(),
  backlog: z.strictObject({
    /** By state, without states that no item has. */
    counts: z.partialRecord(z.enum(ITEM_STATES), z.int().positive()),
    /** The open ones, the most urgent first, at most a hundred. */
    items: z.array(
      z.strictObject({ id: z.string(), title: z.string(), state: z.enum(ITEM_STATES), priority: z.int() }),
    ),
  }),
});
export type ShownTeam = z.infer<typeof shownTeamSchema>;
