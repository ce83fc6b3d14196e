import { z } from 'zod';
import { followSchema } from './follow-settings.ts';

/** The kind of the records of followed pull requests, by the id of their run. */
export const FOLLOW_KIND = 'forge-follow';

const answeredSchema = z.object({
  id: z.string(),
  on: z.enum(['line', 'pull', 'review']),
  thread: z.string(),
  /** Where an answer does not stand below it: its beginning. */
  about: z.string().optional(),
});
export type Answered = z.infer<typeof answeredSchema>;

/** A piece of work that the run is asked for, until each comment has its answer. */
const roundSchema = z.object({
  /** Counts them: the run is asked once for each. */
  number: z.int(),
  /** Epoch ms. */
  at: z.int(),
  /** The head that it began with. */
  head: z.string(),
  comments: z.array(answeredSchema),
  /** The run has it. Before that: its texts. */
  asked: z.boolean(),
  problems: z.array(z.string()),
  /** The commit of this branch is to be merged in, and nothing else. */
  base: z.object({ branch: z.string(), commit: z.string() }).optional(),
});

const askedSettingsSchema = followSchema.extend({
  merges: z.boolean(),
  /** The branch that it goes into. */
  base: z.string(),
});

/**
 * A pull request that is followed after its run has ended. Texts are without secrets, times are epoch ms. What was posted and not yet written
 * down here is found by its marker.
 */
export const followRecordSchema = z.object({
  run: z.string(),
  name: z.string(),
  /** As a person asked for it after the end. Absent: as its run was started. */
  settings: askedSettingsSchema.optional(),
  number: z.int(),
  remote: z.string(),
  since: z.int(),
  /** Part of the markers, so that no stranger can write one. */
  secret: z.string(),
  /** The commit that squad has pushed last. */
  head: z.string(),
  /** Those in which agents were asked. */
  rounds: z.int(),
  /** Those and merges of the base. */
  begun: z.int(),
  round: roundSchema.optional(),
  /** Comments that need nothing more. */
  handled: z.array(z.string()),
  /** Checks that were run again, as `name@commit`, and the try that had failed. */
  repeated: z.array(z.object({ check: z.string(), id: z.string(), at: z.int() })),
  /** Checks that were given to an agent, as `name@commit`. */
  given: z.array(z.string()),
  /** Failed, and passed on the same commit. */
  flaky: z.array(z.string()),
  /** Heads and bases that were merged, as `head+base`. */
  caughtUp: z.array(z.string()),
  /** The head for which the forge was asked to merge. */
  mergeAsked: z.string().optional(),
  /** When anything was last seen to be new; and when to look again. */
  changed: z.int(),
  /** By the forge’s clock: comments until then were read, and needed nothing more. */
  seen: z.string(),
  next: z.int(),
  /** Looks in a row that failed. */
  failures: z.int(),
  /** `held`: a person has to do something, and then it follows again. */
  state: z.enum(['follows', 'held', 'merged', 'closed', 'over']),
  why: z.string(),
  /** The last reason of these that was said at the pull request. */
  said: z.string().optional(),
});
export type FollowRecord = z.infer<typeof followRecordSchema>;

export function newFollow(
  of: Pick<FollowRecord, 'run' | 'name' | 'number' | 'remote' | 'head' | 'secret' | 'settings'>,
  now: number,
): FollowRecord {
  const none = { handled: [], repeated: [], given: [], flaky: [], caughtUp: [] };
  const counts = { rounds: 0, begun: 0, failures: 0 };
  return { ...of, ...none, ...counts, since: now, changed: now, seen: '', next: now, state: 'follows', why: '' };
}

/** Whether a record is one of a pull request that is followed, without a look at the rest of it. */
export function isOpenFollow(value: unknown): boolean {
  return openSchema.safeParse(value).success;
}

const openSchema = followRecordSchema.pick({ state: true }).extend({ state: z.enum(['follows', 'held']) });
