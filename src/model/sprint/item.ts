import { z } from 'zod';
import { ITEM_STATES } from './states.ts';

export const ITEM_KINDS = ['feature', 'bug', 'chore', 'research', 'docs'] as const;

/** Higher ones come first. */
export const PRIORITY = { least: 0, most: 100 } as const;

/** Something that should exist. Only planners write it: in a run that plans requests, or in the planning of a sprint. */
export const itemSchema = z.object({
  title: z.string(),
  kind: z.enum(ITEM_KINDS),
  acceptance: z.array(z.string()),
  priority: z.number().int().min(PRIORITY.least).max(PRIORITY.most),
  /** `request:<id>`, `finding:<id>` or `sprint:<id>`. */
  source: z.string(),
  /** Why the planner took it out of the backlog: it is the same as another one, or no one can act on it. */
  dropped: z.string().optional(),
  /** 1 when it was added; each write of the planner counts it up by one. */
  version: z.number().int(),
  /** Epoch ms. */
  createdAt: z.number().int(),
  updatedAt: z.number().int(),
});
export type BacklogItem = z.infer<typeof itemSchema>;

/** How far an item is. Only the engine writes it: the run of a sprint, its end, and a request that brings what it waited for. */
export const itemStateSchema = z.object({
  state: z.enum(ITEM_STATES),
  selected_in_sprint_id: z.string().optional(),
  completed_in_sprint_id: z.string().optional(),
  commit: z.string().optional(),
  blocked_reason: z.string().optional(),
  blocked_by_role: z.string().optional(),
  required_inputs: z.array(z.string()).optional(),
  recommended_next_step: z.string().optional(),
  /** The texts of requests that brought what it waited for. */
  inputs: z.array(z.string()).optional(),
  /** Epoch ms. */
  at: z.number().int(),
});
export type BacklogState = z.infer<typeof itemStateSchema>;

/** An item with its state. One that no sprint has had is pending. */
export interface BacklogEntry extends BacklogItem, Omit<BacklogState, 'at'> {
  readonly id: string;
}
