import { z } from 'zod';
import { isSlug } from '../slug.ts';

/** Becomes a path and a git ref, so it is a slug. Chosen by the playbook, derived from task ids or `event.seq`. */
export const taskIdSchema = z.string().refine(isSlug, 'a task id is a slug: lower case, digits, dashes, at most 32');

/** What the engine checks itself before it believes that a task is done. */
export const requirementSchema = z.discriminatedUnion('kind', [
  /** The agent committed, and left no tracked change behind. */
  z.object({ kind: z.literal('commit') }),
  /** Something changed since the base; within these paths, where they are named. */
  z.object({ kind: z.literal('diff'), paths: z.array(z.string()).optional() }),
  /** Nothing else changed than these: files, folders, or with `*.md` all files of that ending. */
  z.object({ kind: z.literal('only'), paths: z.array(z.string()).min(1) }),
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({ kind: z.literal('command'), run: z.string(), timeoutMs: z.number().int().positive().optional() }),
  /** Open, at exactly the commit that is judged. */
  z.object({ kind: z.literal('pr') }),
]);
export type Requirement = z.infer<typeof requirementSchema>;

export const briefSchema = z.object({
  text: z.string(),
  /** The text is the whole prompt of the first turn. */
  verbatim: z.boolean().optional(),
  files: z.array(z.string()).optional(),
  mail: z.array(z.string()).optional(),
});

export const reviewPolicySchema = z.object({
  /** Roles; each gives one verdict. */
  by: z.array(z.string()).min(1),
  quorum: z.enum(['all', 'any']),
  rounds: z.number().int().min(1).max(20),
  criteria: z.array(z.string()),
});
export type ReviewPolicy = z.infer<typeof reviewPolicySchema>;

export const newTaskSchema = z.object({
  id: taskIdSchema,
  title: z.string(),
  role: z.string(),
  /** One agent by name; absent: any that has the role. */
  agent: z.string().optional(),
  parent: z.string().optional(),
  /**
   * `work`: an agent's. `check`: the engine runs what `requires` says and no agent is asked. `integrate`: the engine brings
   * the commit of `base` into the run branch. A review is a property of work, not a task.
   */
  kind: z.enum(['work', 'check', 'integrate']),
  needs: z.array(z.string()),
  brief: briefSchema,
  /** `own`: a detached worktree, made once `needs` are delivered. */
  workspace: z.union([z.literal('own'), z.literal('none'), z.object({ read: z.string() })]),
  /** One of `needs`: start from exactly its commit. Absent: from the run branch's head. */
  base: z.string().optional(),
  /** `agent`: one thread per agent, whatever the task. */
  session: z.union([z.literal('new'), z.literal('agent'), z.object({ of: z.string() })]),
  /** A schema of the playbook by name; the engine checks the answer and asks for repairs. */
  output: z.object({ schema: z.string(), repairs: z.number().int().min(0).max(5) }).optional(),
  requires: z.array(requirementSchema),
  review: reviewPolicySchema.optional(),
  integrate: z.boolean(),
  /** It may be done without a change: then there is nothing to integrate. */
  mayChangeNothing: z.boolean().optional(),
  retries: z.number().int().nonnegative().optional(),
  /** Higher goes first; absent is 0. */
  priority: z.number().int().optional(),
  /** `engine`: a task of the engine, which no playbook sees. */
  owner: z.literal('engine').optional(),
  /** For an integration: a commit that no task made. */
  foreign: z.string().optional(),
});
export type NewTask = z.infer<typeof newTaskSchema>;

export const CAUSES = [
  'rejected',
  'no-evidence',
  'bad-output',
  'attempts',
  'conflict',
  'verify',
  'cancelled',
  'limit',
] as const;
/** Why a task failed. */
export type Cause = (typeof CAUSES)[number];

export const TASK_ENDS = ['done', 'failed', 'skipped', 'cancelled'] as const;
export type TaskEnd = (typeof TASK_ENDS)[number];

export const TASK_STATUSES = ['waiting', 'ready', 'live', 'reviewing', 'integrating', ...TASK_ENDS] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
