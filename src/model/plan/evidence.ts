import { z } from 'zod';

/** What the engine saw itself, in a task's worktree, after its agent said that it was done. */
export const evidenceFactsSchema = z.object({
  /** What the work is compared with: everything since it is the agent's. */
  base: z.string(),
  /**
   * Where all of the task's work can be had: the head where the agent committed everything, otherwise a commit that the
   * engine made of the tree. null: nothing changed since the base.
   */
  commit: z.string().nullable(),
  /** Why the engine could not look at all. */
  problem: z.string().optional(),
  /** Commits of the agent's own since the base. */
  commits: z.number().int().nonnegative(),
  /** Since the base; repository paths with forward slashes. */
  changedPaths: z.array(z.string()),
  /** Tracked changes that were not committed. Untracked files never count. */
  uncommitted: z.array(z.string()),
  /** Of a hand-off: paths that are not as they were handed over. */
  altered: z.array(z.string()).optional(),
  /** Of the files that are required, those that exist. */
  files: z.array(z.string()),
  commands: z.array(z.object({ run: z.string(), passed: z.boolean(), output: z.string() })),
  pr: z.object({ url: z.string(), commit: z.string(), open: z.boolean() }).nullable(),
  /** Why there is none, where the forge said so. */
  prProblem: z.string().optional(),
});
export type EvidenceFacts = z.infer<typeof evidenceFactsSchema>;
