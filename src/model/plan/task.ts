import { z } from 'zod';
import { isSlug } from '../slug.ts';
import { commitPolicySchema } from '../subject-policy.ts';

/** Becomes a path and a git ref, so it is a slug. */
const taskIdSchema = z.string().refine(isSlug, 'a task id is a slug: lower case, digits, dashes, at most 32');

/** A check that the engine makes before it accepts a task as done. */
export const requirementSchema = z.discriminatedUnion('kind', [
  /** The agent made a commit and left no tracked change uncommitted. */
  z.object({ kind: z.literal('commit') }),
  /** Something changed since the base, in one of `paths` if they are given. */
  z.object({ kind: z.literal('diff'), paths: z.array(z.string()).optional() }),
  /** Nothing changed except these files, folders and patterns like `*.md`. `instead`: how its agent gets more paths, if it can. */
  z.object({ kind: z.literal('only'), paths: z.array(z.string()).min(1), instead: z.string().optional() }),
  /** Nothing changed at these paths, whose case does not matter. `instead`: what they are for, and what to do, for the agent. */
  z.object({ kind: z.literal('untouched'), paths: z.array(z.string()).min(1), instead: z.string() }),
  z.object({ kind: z.literal('file'), path: z.string() }),
  /**
   * The commit has this Markdown document, with these headings in order and text of its own below each. Without headings: it
   * has text besides headings.
   */
  z.object({ kind: z.literal('document'), path: z.string(), headings: z.array(z.string()) }),
  /** Nothing is at this path in the commit: no file, folder or link. */
  z.object({ kind: z.literal('absent'), path: z.string() }),
  z.object({
    kind: z.literal('command'),
    run: z.string(),
    timeoutMs: z.number().int().positive().optional(),
    /** If it cannot run at all, its task is done without it, and the end of the run says so. */
    ofCriterion: z.literal(true).optional(),
  }),
  /** Each commit since the base has a subject of this policy, and the answer names the subject of one at `said`, if it names any. */
  z.object({ kind: z.literal('subject'), policy: commitPolicySchema, said: z.array(z.string()) }),
  /** A pull request is open at the judged commit. */
  z.object({ kind: z.literal('pr') }),
]);
export type Requirement = z.infer<typeof requirementSchema>;

export function criterionCheck(run: string): Requirement {
  return { kind: 'command', run, ofCriterion: true };
}

/** The requirement that keeps a planned task to its paths; undefined: it may change everything, or no plan gave it paths. */
export function limitOf(requires: readonly Requirement[]): Extract<Requirement, { kind: 'only' }> | undefined {
  return requires.find((one) => one.kind === 'only' && one.instead !== undefined) as
    | Extract<Requirement, { kind: 'only' }>
    | undefined;
}

export const briefSchema = z.object({
  text: z.string(),
  /** The text is the whole prompt of the first turn. */
  verbatim: z.boolean().optional(),
  files: z.array(z.string()).optional(),
  /** Files that the task is expected to change, for its author and for those who work beside it. */
  touches: z.array(z.string()).optional(),
  mail: z.array(z.string()).optional(),
  /** Messages, by id or `key:`, of which the text says all: the prompt names them and leaves their words out. */
  says: z.array(z.string()).optional(),
});

/** Who reviews a task, and how often. */
const reviewPolicySchema = z.object({
  /** Its name beside the other reviews of the task. Absent: the task has no other. */
  id: z.string().optional(),
  /** Roles, each with one verdict. */
  by: z.array(z.string()).min(1),
  quorum: z.enum(['all', 'any']),
  rounds: z.number().int().min(1).max(20),
  criteria: z.array(z.string()),
  /** `stop`: the same findings in two rounds in a row fail the task at once. Absent: `report`, which only says so. */
  whenNotConverging: z.enum(['stop', 'report']).optional(),
  /** `skip`: where a role of `all` gives no verdict, those of the others decide, if there is one. Absent: the task fails. */
  withoutVerdict: z.literal('skip').optional(),
  /** The task whose agent reviews, in its session. Absent: each reviewer has a session of its own. */
  session: z.object({ of: z.string() }).optional(),
  /**
   * The categories of which a rejection names one, and where it leads: back to the author, to the end of the task, or to the playbook.
   * Absent: to the author, without a category.
   */
  reopens: z.record(z.string(), z.enum(['author', 'block', 'playbook'])).optional(),
});
export type ReviewPolicy = z.infer<typeof reviewPolicySchema>;

/** A task as a playbook adds it. */
export const newTaskSchema = z.object({
  id: taskIdSchema,
  title: z.string(),
  role: z.string(),
  /** The agent by name. Absent: any with the role. */
  agent: z.string().optional(),
  parent: z.string().optional(),
  /**
   * `work`: done by an agent. `check`: the engine checks `requires`. `integrate`: the engine merges the commit of `base` into
   * the run branch.
   */
  kind: z.enum(['work', 'check', 'integrate']),
  needs: z.array(z.string()),
  brief: briefSchema,
  /** `own`: its own folder, made once `needs` are delivered. */
  workspace: z.union([z.literal('own'), z.literal('none'), z.object({ read: z.string() })]),
  /** The task of `needs` whose commit it starts from. Absent: the head of the run branch. */
  base: z.string().optional(),
  /** `agent`: all tasks of the agent share one session. */
  session: z.union([z.literal('new'), z.literal('agent'), z.object({ of: z.string() })]),
  /** The playbook's schema for the answer. The engine checks it and asks for repairs. */
  output: z.object({ schema: z.string(), repairs: z.number().int().min(0).max(5) }).optional(),
  requires: z.array(requirementSchema),
  review: reviewPolicySchema.optional(),
  /** Each opens once the one before has approved the same commit. A new commit begins again at `review`. */
  laterReviews: z.array(reviewPolicySchema).min(1).optional(),
  integrate: z.boolean(),
  /** Who does it may build and write in a copy that is thrown away, although its access is read-only. */
  builds: z.literal(true).optional(),
  /** It may be done without a change; then nothing is integrated. */
  mayChangeNothing: z.boolean().optional(),
  retries: z.number().int().nonnegative().optional(),
  /** Higher goes first. Absent: 0. */
  priority: z.number().int().optional(),
  /** A task of the engine. Playbooks do not see it. */
  owner: z.literal('engine').optional(),
  /** For an integration: a commit that no task made. */
  foreign: z.string().optional(),
});
export type NewTask = z.infer<typeof newTaskSchema>;

/** The reviews of a task, in their order. */
export function reviewsOf({ review, laterReviews = [] }: Pick<NewTask, 'review' | 'laterReviews'>): ReviewPolicy[] {
  return review === undefined ? [] : [review, ...laterReviews];
}

/** All roles that review a task. */
export function reviewRoles(task: Pick<NewTask, 'review' | 'laterReviews'>): string[] {
  return reviewsOf(task).flatMap(({ by }) => by);
}

export const CAUSES = [
  'rejected',
  'no-evidence',
  'bad-output',
  'attempts',
  'conflict',
  'verify',
  'cancelled',
  'limit',
  'blocked',
] as const;
/** Why a task failed. */
export type Cause = (typeof CAUSES)[number];

/** How a task can end. */
export const TASK_ENDS = ['done', 'failed', 'skipped', 'cancelled'] as const;
export type TaskEnd = (typeof TASK_ENDS)[number];

/** The states of a task. */
export const TASK_STATUSES = ['waiting', 'ready', 'live', 'reviewing', 'integrating', ...TASK_ENDS] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** As tasks are shown. `blocked`: one that failed because it waits for what a person has to bring. */
export const SHOWN_STATUSES = [...TASK_STATUSES, 'blocked'] as const;
export type ShownStatus = (typeof SHOWN_STATUSES)[number];
