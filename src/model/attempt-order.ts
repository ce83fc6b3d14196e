import { z } from 'zod';
import { turnRequestSchema } from './turn-request.ts';

/** Where an attempt works. Resolved when it starts, because the run branch moves until then. */
export const placeSchema = z.object({
  /** Name of the worktree; null: a folder with nothing of the repository in it. */
  folder: z.string().nullable(),
  /** The commit it starts from; null: the run branch's head. */
  commit: z.string().nullable(),
  /** The commit delivered last at the claim. A folder that names no commit starts there. Absent: the run branch's head. */
  head: z.string().optional(),
  /** true: what is in it is the task's work and stays. false: nobody's work is in it, and it moves to the commit. */
  own: z.boolean(),
  /** The commit last kept of the task's own folder. If the folder is gone, it is created again from here, not from `commit`. */
  kept: z.string().optional(),
  /**
   * Where HEAD is to stand while the files are those of the work: what is handed over lies there staged, ready to be
   * committed; what others have committed of one's own work is below it.
   */
  onto: z.string().optional(),
  /** What is in it is kept at this ref of the run, numbered where it is taken, and it is made anew before the attempt starts. */
  reset: z.object({ rescueAs: z.string() }).optional(),
});
export type Place = z.infer<typeof placeSchema>;

/** What is stored with a claimed turn: a request whose workspace is filled in when it starts. */
export const attemptOrderSchema = turnRequestSchema.extend({ place: placeSchema });
export type AttemptOrder = z.infer<typeof attemptOrderSchema>;
