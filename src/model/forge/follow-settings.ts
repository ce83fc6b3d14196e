import { z } from 'zod';

/** Names of people or labels on a forge, which go into a command line after `=`. */
const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9](?:[^,\p{C}]{0,98}[^\s,\p{C}])?$/u, 'begins with a letter or digit and has no commas');

const requestSchema = z.strictObject({
  draft: z.boolean().default(false),
  /** Asked for a review when it is opened. */
  reviewers: z.array(nameSchema).max(15).default([]),
  labels: z.array(nameSchema).max(20).default([]),
});

export const FOLLOW_DAYS = 14;
export const FOLLOW_ROUNDS = 10;

const followSchema = z.strictObject({
  days: z.number().positive().max(90).default(FOLLOW_DAYS),
  rounds: z.int().min(1).max(50).default(FOLLOW_ROUNDS),
  /** Whose comments and approvals count: `owner` may change the repository's settings, `member` may push to it. */
  by: z
    .array(z.enum(['owner', 'member']))
    .min(1)
    .default(['owner', 'member']),
});
export type FollowSettings = z.infer<typeof followSchema>;

/** `true` is all of it as it is by default. */
export const prSchema = z.union([z.boolean(), requestSchema]);
export const followSettingSchema = z.union([z.boolean(), followSchema]);

/** What the run's pull request is opened with. */
export function requestOptions(pr: z.infer<typeof prSchema>): z.infer<typeof requestSchema> {
  return typeof pr === 'object' ? pr : { draft: false, reviewers: [], labels: [] };
}

/** undefined: it is not followed. */
export function followOf(follow: z.infer<typeof followSettingSchema> | undefined): FollowSettings | undefined {
  if (follow === undefined || follow === false) return undefined;
  return follow === true ? followSchema.parse({}) : follow;
}
