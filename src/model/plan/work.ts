import { z } from 'zod';
import { failureSchema } from '../failure.ts';
import { jsonSchema, type Json } from '../../text/json.ts';
import { OUTCOMES } from '../turn-result.ts';
import { evidenceFactsSchema } from './evidence.ts';
import type { ReviewAnswer } from './review.ts';
import { CAUSES, TASK_ENDS, type Cause, type TaskEnd } from './task.ts';

/** `workspace-reset`: a new session in a folder as the run branch is; what was in it is kept by a ref. */
export const STALL_FALLBACKS = ['retry', 'workspace-reset', 'skip', 'fail'] as const;
export type StallFallback = (typeof STALL_FALLBACKS)[number];

/** All that can happen to one piece of work. Stored: the board is the fold of these and of the plan's changes. */
export const workEventSchema = z.discriminatedUnion('type', [
  /** A check or an integration, which needs no agent. `commit`: the commit to integrate. `base`: a reviewer compares it with this. */
  z.object({ type: z.literal('begun'), commit: z.string().optional(), base: z.string().optional() }),
  z.object({
    type: z.literal('attempt-started'),
    attempt: z.string(),
    agent: z.string(),
    account: z.string(),
    session: z.string(),
    /** The role it reviews as; null: the author's. */
    review: z.string().nullable(),
  }),
  z.object({
    type: z.literal('attempt-settled'),
    attempt: z.string(),
    outcome: z.enum(OUTCOMES),
    failure: failureSchema.optional(),
    /** Structured, checked against its schema. */
    output: jsonSchema.optional(),
    text: z.string(),
    /** Asks of this turn whose answers it has not read. */
    awaits: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal('evidence-gathered'), facts: evidenceFactsSchema }),
  z.object({ type: z.literal('integration-started') }),
  z.object({ type: z.literal('integrated'), candidate: z.string() }),
  z.object({ type: z.literal('conflict'), files: z.array(z.string()), head: z.string() }),
  z.object({ type: z.literal('verified'), candidate: z.string(), passed: z.boolean(), output: z.string() }),
  z.object({ type: z.literal('branch-advanced'), commit: z.string() }),
  /** The run branch is not at the commit that the ledger delivered last (null: it is gone), so nothing is merged into it. */
  z.object({ type: z.literal('branch-foreign'), head: z.string().nullable() }),
  /** The run branch is checked out there, so it cannot be moved. */
  z.object({ type: z.literal('branch-held'), paths: z.array(z.string()) }),
  z.object({ type: z.literal('wall-raised'), attempt: z.string(), why: z.string() }),
  z.object({ type: z.literal('wall-cleared'), attempt: z.string() }),
  z.object({ type: z.literal('wall-fallback'), attempt: z.string(), fallback: z.enum(STALL_FALLBACKS) }),
  z.object({ type: z.literal('unblocked'), question: z.string(), goOn: z.boolean() }),
  z.object({ type: z.literal('reopened'), feedback: z.string(), session: z.enum(['same', 'new']) }),
  /** `cause`: of a failure that is not a person's or a playbook's wish. */
  z.object({
    type: z.literal('settle-asked'),
    as: z.enum(TASK_ENDS),
    why: z.string(),
    cause: z.enum(CAUSES).optional(),
  }),
  /** A person wants another try; live attempts are ended first. */
  z.object({
    type: z.literal('retry-asked'),
    fresh: z.boolean(),
    note: z.string().nullable(),
    /** It only comes back with another: its own limits hold as they did. */
    revived: z.boolean().optional(),
  }),
  /** A person says how it ends, also where it has ended otherwise. */
  z.object({ type: z.literal('override-asked'), as: z.enum(TASK_ENDS), by: z.string(), why: z.string() }),
]);
export type WorkEvent = z.infer<typeof workEventSchema>;

/** What the next attempt is told. Rendered to text by the graph; `text` may hold an agent's words. */
export type Prompt =
  | { readonly why: 'start' }
  | {
      readonly why: 'feedback';
      readonly from: 'review' | 'evidence' | 'conflict' | 'verify' | 'playbook' | 'person';
      readonly text: string;
    }
  /** The answer did not fit its schema. */
  | { readonly why: 'repair'; readonly text: string }
  /** The turn before was cut short and may have changed files. */
  | { readonly why: 'continue'; readonly text: string }
  /** What it asked has been answered, by mail. */
  | { readonly why: 'answered' };

/** How often a request was tried again, by what that costs. Durable: derived from the ledger like all else here. */
export interface Used {
  /** The agent's own doing; `retries` caps it. */
  readonly retries: number;
  /** Lost, crashed, never started: nobody's doing. */
  readonly infrastructure: number;
  /** Network and server trouble; only the backoff grows. */
  readonly transient: number;
  /** Answers that did not fit their schema, in this round. */
  readonly repairs: number;
  /** Waits for a rate limit, one after the other; nothing is capped by it. */
  readonly waits: number;
  /** Stalls. */
  readonly stalls: number;
  /** Turns that ended with a question to somebody. */
  readonly asks: number;
}

export type RequestState =
  | { readonly at: 'queued' }
  /** Not before this moment; there is no event for its end, `now` decides. */
  | { readonly at: 'waiting'; readonly until: number }
  | { readonly at: 'blocked'; readonly question: string }
  | {
      readonly at: 'live';
      readonly attempt: string;
      readonly agent: string;
      readonly account: string;
      readonly session: string;
      /** Told to stop, and which way out is taken then. */
      readonly stop: StallFallback | null;
      readonly stall: string | null;
    }
  | { readonly at: 'answered' }
  | { readonly at: 'failed'; readonly cause: Cause; readonly why: string };

/** One thing asked of one agent, until it answers or cannot. */
export interface AgentRequest {
  readonly state: RequestState;
  readonly prompt: Prompt;
  /** `new`: the next attempt must not resume. */
  readonly session: 'same' | 'new';
  /** The next attempt begins in a folder as the run branch is; what is there is kept by a ref. */
  readonly reset: boolean;
  /** The session of the last attempt, and whose it is. */
  readonly thread: { readonly key: string; readonly agent: string } | null;
  readonly used: Used;
}

export interface ReviewSlot {
  readonly role: string;
  readonly request: AgentRequest;
  readonly answer: ReviewAnswer | null;
  /** Agents whose answers were unusable in this round. Another one is asked. */
  readonly tried: readonly string[];
}

export type Phase =
  | { readonly at: 'working' }
  | { readonly at: 'gathering' }
  /** Everything in it judges this commit. */
  | { readonly at: 'reviewing'; readonly commit: string; readonly slots: readonly ReviewSlot[] }
  /** `since`: its place in the one queue. */
  | { readonly at: 'in-queue'; readonly commit: string; readonly since: number }
  | { readonly at: 'integrating'; readonly commit: string; readonly since: number }
  | { readonly at: 'verifying'; readonly commit: string; readonly candidate: string; readonly since: number }
  | { readonly at: 'advancing'; readonly commit: string; readonly candidate: string; readonly since: number }
  | { readonly at: 'stopping'; readonly as: TaskEnd; readonly why: string }
  | { readonly at: 'ended'; readonly as: TaskEnd; readonly cause: Cause | null; readonly why: string };

export interface RoundRecord {
  readonly round: number;
  readonly commit: string;
  readonly approved: boolean;
  readonly feedback: string;
  /** Normalised findings that counted. */
  readonly findings: readonly string[];
  readonly by: readonly { readonly role: string; readonly agent: string; readonly approved: boolean }[];
}

/** One piece of work, from its first attempt to its end. Plain JSON. */
export interface Work {
  readonly phase: Phase;
  readonly author: AgentRequest;
  /** From 1: how often it was judged or opened anew. Never above the task's cap, but for what a person granted. */
  readonly round: number;
  /** Rounds before a person's last retry: its cap begins anew. */
  readonly granted: number;
  /** A person has tried it again: what it used until then must not end it at once, so the run's caps alone hold. */
  readonly uncapped: boolean;
  /** Ways back to the author that take no round; each has its own cap. */
  readonly returns: { readonly evidence: number; readonly conflict: number; readonly verify: number };
  /** Whoever worked on it; none of them may review it. */
  readonly authors: readonly string[];
  /** All attempts so far, reviews too: the next one's number follows. */
  readonly attempts: number;
  /** How many of these were reviews. */
  readonly reviews: number;
  /** The last commit that passed the check of evidence; delivered once the work is done. */
  readonly commit: string | null;
  /** What that commit was compared with. */
  readonly base: string | null;
  /** The commit in which the engine last kept the folder, proven or not. A folder that is gone is created again from it. */
  readonly kept: string | null;
  /** The commit that was sent back: the same one again is no evidence. */
  readonly returned: string | null;
  readonly output: Json | null;
  readonly rounds: readonly RoundRecord[];
  readonly followUps: readonly string[];
  /** Every feedback the author got, oldest first. */
  readonly feedback: readonly string[];
  /** By role: reviewers keep their session over the rounds. */
  readonly reviewers: Readonly<Record<string, { readonly key: string; readonly agent: string }>>;
  /** Why its agent can go no further although there may be work to show for it: then that is judged as it is. */
  readonly stalled: string | null;
  /** A person's word on how it ends; null: it ends as it should. */
  readonly override: { readonly as: TaskEnd; readonly by: string; readonly why: string } | null;
  /** Attempts that were told to stop and are not yet settled. */
  readonly leaving: readonly { readonly attempt: string; readonly agent: string; readonly session: string }[];
}
