import { z } from 'zod';
import { turnRequestSchema } from './turn-request.ts';

/** The folder in which an attempt works. Resolved when it starts, because the run branch moves until then. */
export const placeSchema = z.object({
  /** Name of the folder; null: a folder with nothing of the repository in it. */
  folder: z.string().nullable(),
  /** The commit it starts from; null: the run branch's head. */
  commit: z.string().nullable(),
  /** The commit delivered last at the claim. A folder that names no commit starts there. Absent: the run branch's head. */
  head: z.string().optional(),
  /** true: the folder holds the task's work and stays as it is. false: it holds no work and moves to the commit. */
  own: z.boolean(),
  /** The commit last kept of the task's own folder. If the folder is gone, it is created again from here, not from `commit`. */
  kept: z.string().optional(),
  /** The commit of HEAD under work that was handed over: that work is staged on top of it, ready to commit. */
  onto: z.string().optional(),
  /** Keeps the folder's content at this ref of the run, with a number if the ref exists, and then replaces the folder. */
  reset: z.object({ rescueAs: z.string() }).optional(),
});
export type Place = z.infer<typeof placeSchema>;

/** The stored request of a claimed turn. Its workspace is filled in when it starts. */
export const attemptOrderSchema = turnRequestSchema.extend({ place: placeSchema });
export type AttemptOrder = z.infer<typeof attemptOrderSchema>;
