import { z } from 'zod';
import { checkerChangeSchema } from './checker.ts';
import { checkFactsSchema } from './gate.ts';

/** A required document as it is in the commit. */
const documentFactsSchema = z.object({
  path: z.string(),
  /** null: it cannot be read, and `problems` says why. */
  sha256: z.string().nullable(),
  bytes: z.number().int().nonnegative(),
  /** Problems of the document, for its author. They contain no text of the document. */
  problems: z.array(z.string()),
});
export type DocumentFacts = z.infer<typeof documentFactsSchema>;

/** Commits in the clone of a task that its HEAD does not have, and that the run keeps. */
const sideWorkSchema = z.object({
  kept: z.array(
    z.object({
      /** `log`: only the log of HEAD or of a branch still names it. */
      kind: z.enum(['stash', 'branch', 'worktree', 'tag', 'ref', 'log']),
      /** The name of the branch or tag; for other kinds the file that names the commit. */
      name: z.string(),
      commit: z.string(),
      /** The ref of the run that keeps it. */
      ref: z.string(),
    }),
  ),
  /** Text about commits that could not be kept, and why; absent: all are kept. */
  missed: z.string().optional(),
});
export type SideWork = z.infer<typeof sideWorkSchema>;
export type SideCommit = SideWork['kept'][number];

/** The facts that the engine found in a task's folder after its agent said that it was done. */
export const evidenceFactsSchema = z.object({
  /** The commit that the work is compared with. */
  base: z.string(),
  /**
   * The head if the agent committed everything, otherwise a commit that the engine made of the tree. null: nothing changed
   * since the base.
   */
  commit: z.string().nullable(),
  /** Why the engine could not check anything. */
  problem: z.string().optional(),
  /** The folder was gone before the engine could keep what the turn had made. */
  lost: z.literal(true).optional(),
  /** Why the files in the folder could not be looked at: only the commit at its HEAD counts. */
  unread: z.string().optional(),
  /** Absent: HEAD has all commits. */
  side: sideWorkSchema.optional(),
  /** Commits that the agent made since the base. */
  commits: z.number().int().nonnegative(),
  /** Their subjects, without those of merges. Absent: nothing is asked of them. */
  subjects: z.array(z.string()).optional(),
  /** Paths changed since the base, relative to the repository, with forward slashes. */
  changedPaths: z.array(z.string()),
  /** Tracked changes that are not committed. Untracked files do not count. */
  uncommitted: z.array(z.string()),
  /** Files that turns wrote and git ignores, so that no commit has them. Absent: none, or the work is complete without them. */
  ignored: z
    .object({ paths: z.array(z.object({ path: z.string(), by: z.string() })), more: z.number().int().nonnegative() })
    .optional(),
  /** For a hand-off: paths that differ from the work that was handed over. */
  altered: z.array(z.string()).optional(),
  /** The paths that exist, of the files that are required and of the paths that must be absent. */
  files: z.array(z.string()),
  /** Absent if no document is required. */
  documents: z.array(documentFactsSchema).optional(),
  commands: z.array(checkFactsSchema),
  /** Changes by reviewed work to files that check it. Absent: none. */
  checkers: z.array(checkerChangeSchema).optional(),
  pr: z.object({ url: z.string(), commit: z.string(), open: z.boolean() }).nullable(),
  /** Why there is no pull request, if the forge said so. */
  prProblem: z.string().optional(),
});
export type EvidenceFacts = z.infer<typeof evidenceFactsSchema>;
