import { z } from 'zod';
import { whoSchema } from './settings.ts';

export const followSchema = z.strictObject({
  days: z.number().positive().max(90).default(14),
  /** So many times its agents are asked, at most. */
  rounds: z.int().min(1).max(50).default(10),
  /** The people whose comments and approvals count. */
  by: whoSchema,
});
export type FollowSettings = z.infer<typeof followSchema>;

export const followShape = {
  /** Failed checks and comments of the pull request become work, until it is merged or closed. Absent: they do not. */
  follow: z.union([z.boolean(), followSchema]).optional(),
  /** The forge is asked to merge it once an allowed person has approved it. Absent: people merge it. */
  merge: z.literal('when-approved').optional(),
};

/** undefined: it is not followed. */
export function followOf(follow: boolean | FollowSettings | undefined): FollowSettings | undefined {
  if (follow === undefined || follow === false) return undefined;
  return follow === true ? followSchema.parse({}) : follow;
}
