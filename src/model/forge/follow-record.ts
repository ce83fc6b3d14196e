import { z } from 'zod';

/** The kind of the records of followed pull requests, by the id of their run. */
export const FOLLOW_KIND = 'forge-follow';

const roundSchema = z.object({
  /** Epoch ms. */
  at: z.int(),
  /** The head that it began with. */
  head: z.string(),
  /** Comments that it has to answer. */
  comments: z.array(z.object({ id: z.string(), on: z.enum(['line', 'pull', 'review']), thread: z.string() })),
});
export type FollowRound = z.infer<typeof roundSchema>;

/**
 * A pull request that is followed after its run has ended. Texts are without secrets, times are epoch ms. An answer that was posted and not
 * yet written down here is found by its marker.
 */
export const followRecordSchema = z.object({
  run: z.string(),
  url: z.string(),
  number: z.int(),
  remote: z.string(),
  branch: z.string(),
  since: z.int(),
  /** Part of the markers, so that no stranger can write one. */
  secret: z.string(),
  /** What squad has pushed last. */
  head: z.string(),
  rounds: z.int(),
  round: roundSchema.optional(),
  /** Comments that need nothing more. */
  handled: z.array(z.string()),
  /** Checks that were run again, or given to an agent, as `name@commit`. */
  repeated: z.array(z.object({ check: z.string(), at: z.int() })),
  asked: z.array(z.string()),
  /** Failed, and passed on the same commit. */
  flaky: z.array(z.object({ check: z.string(), commit: z.string() })),
  /** Heads for which the base was merged, and for which a merge was asked. */
  caughtUp: z.array(z.string()),
  mergeAsked: z.string().optional(),
  roles: z.record(z.string(), z.object({ role: z.enum(['owner', 'member', 'none']), at: z.int() })),
  /** When anything was last seen to be new; and when to look again. */
  changed: z.int(),
  seen: z.string(),
  next: z.int(),
  state: z.enum(['follows', 'held', 'merged', 'closed', 'over']),
  why: z.string(),
});
export type FollowRecord = z.infer<typeof followRecordSchema>;

export function newFollow(
  of: Pick<FollowRecord, 'run' | 'url' | 'number' | 'remote' | 'branch' | 'head' | 'secret'>,
  now: number,
): FollowRecord {
  const none = { handled: [], repeated: [], asked: [], flaky: [], caughtUp: [], roles: {} };
  return { ...of, since: now, rounds: 0, ...none, changed: now, seen: '', next: now, state: 'follows', why: '' };
}
