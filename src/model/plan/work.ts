import { z } from 'zod';
import { failureSchema } from '../failure.ts';
import type { Json } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { OUTCOMES } from '../turn-result.ts';
import { evidenceFactsSchema } from './evidence.ts';
import { authorReportSchema, type AuthorReport } from './author-report.ts';
import { checkChangesSchema, type CheckNotes } from './gate.ts';
import { lookUpsSchema } from './judge-evidence.ts';
import { citedSchema, type Cited, type ReviewAnswer } from './review.ts';
import type { RoundRecord } from './round-record.ts';
import type { CheckerChange, CheckerWord } from './checker.ts';
import { LOOKS, type Look } from './look.ts';
import type { ReplacedJudge } from './silent-judge.ts';
import type { StoodIn } from './stood-in.ts';
import { CAUSES, TASK_ENDS, type Cause, type TaskEnd } from './task.ts';

/** `workspace-reset`: a new session in a folder that is like the run branch. A ref keeps the old content. */
export const STALL_FALLBACKS = ['retry', 'workspace-reset', 'skip', 'fail'] as const;
export type StallFallback = (typeof STALL_FALLBACKS)[number];

/** The action at the n-th stall, counted from 1. The last entry also applies to all later stalls. */
export function fallbackFor(fallbacks: readonly StallFallback[], count: number): StallFallback {
  return fallbacks[Math.min(Math.max(count, 1), fallbacks.length) - 1] ?? 'fail';
}

/** Everything that can happen to one task's work. Stored. */
export const workEventSchema = z.discriminatedUnion('type', [
  /**
   * A check or an integration starts; neither needs an agent. `commit`: to integrate. `base`: what a reviewer compares it with.
   */
  z.object({ type: z.literal('begun'), commit: z.string().optional(), base: z.string().optional() }),
  z.object({
    type: z.literal('attempt-started'),
    attempt: z.string(),
    agent: z.string(),
    account: z.string(),
    /** The account that `account` stands in for, which was at its limit or locked out. Absent: it is the agent's own. */
    insteadOf: z.string().optional(),
    session: z.string(),
    /** The role that it reviews as; null: it is the author's. */
    review: z.string().nullable(),
  }),
  z.object({
    type: z.literal('attempt-settled'),
    attempt: z.string(),
    outcome: z.enum(OUTCOMES),
    failure: failureSchema.optional(),
    /** Checked against its schema. */
    output: jsonSchema.optional(),
    text: z.string(),
    /** The author's own words on its work, as squad keeps them. Absent: it gave none in the form. */
    report: authorReportSchema.optional(),
    /** Problems that the playbook finds in its output. Absent: none. */
    problems: z.array(z.string()).optional(),
    /** Whether it used a tool. Absent: not known. */
    look: z.enum(LOOKS).optional(),
    /** Facts for a review. Absent: its findings name no file. */
    cited: citedSchema.optional(),
    /** Findings on a judge's evidence. Absent: it is no answer of a judge. */
    looked: lookUpsSchema.optional(),
    /** Questions of this turn whose answers it has not read. */
    awaits: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal('evidence-gathered'), facts: evidenceFactsSchema }),
  z.object({ type: z.literal('integration-started') }),
  z.object({ type: z.literal('integrated'), candidate: z.string() }),
  z.object({ type: z.literal('conflict'), files: z.array(z.string()), head: z.string() }),
  z.object({
    type: z.literal('verified'),
    candidate: z.string(),
    passed: z.boolean(),
    output: z.string(),
    /** The one that failed; absent: all passed. */
    command: z.string().optional(),
    /** Absent: no command changed a tracked file. */
    changed: z.array(checkChangesSchema).optional(),
  }),
  z.object({ type: z.literal('branch-advanced'), commit: z.string() }),
  /** The run branch is not at the commit that was delivered last (null: it is gone), so nothing is merged. */
  z.object({ type: z.literal('branch-foreign'), head: z.string().nullable() }),
  z.object({ type: z.literal('wall-raised'), attempt: z.string(), why: z.string() }),
  /** `why`: what came; absent: nothing was said. */
  z.object({ type: z.literal('wall-cleared'), attempt: z.string(), why: z.string().optional() }),
  z.object({ type: z.literal('wall-fallback'), attempt: z.string(), fallback: z.enum(STALL_FALLBACKS) }),
  z.object({ type: z.literal('unblocked'), question: z.string(), goOn: z.boolean() }),
  /** `agent`: another agent that starts the task from the beginning, because the first gave no answer. */
  z.object({
    type: z.literal('reopened'),
    feedback: z.string(),
    session: z.enum(['same', 'new']),
    agent: z.string().optional(),
    isFault: z.literal(false).optional(),
  }),
  /** `cause`: if the engine ends it, or a playbook blocks it. */
  z.object({
    type: z.literal('settle-asked'),
    as: z.enum(TASK_ENDS),
    why: z.string(),
    cause: z.enum(CAUSES).optional(),
  }),
  /** The operator tries it again. Live attempts are ended first. */
  z.object({
    type: z.literal('retry-asked'),
    fresh: z.boolean(),
    note: z.string().nullable(),
    /** Set if another task's retry reopens it too. Its limits are not raised then. */
    revived: z.boolean().optional(),
  }),
  /** The operator decides how it ends, even if it has already ended. */
  z.object({ type: z.literal('override-asked'), as: z.enum(TASK_ENDS), by: z.string(), why: z.string() }),
]);
export type WorkEvent = z.infer<typeof workEventSchema>;

/** The subject of the next prompt. `text` may come from an agent. */
export type Prompt =
  | { readonly why: 'start' }
  | {
      readonly why: 'feedback';
      readonly from: 'review' | 'evidence' | 'conflict' | 'verify' | 'playbook' | 'person';
      readonly text: string;
    }
  /** The answer does not fit its schema. */
  | { readonly why: 'repair'; readonly text: string }
  /** The last turn was cut short and may have changed files. */
  | { readonly why: 'continue'; readonly text: string }
  /** Its question was answered by mail. */
  | { readonly why: 'answered' };

/** Retries of a request, by cause. */
export interface Used {
  /** Failures of the agent; limited by `retries`. */
  readonly retries: number;
  /** Lost, crashed or never started. */
  readonly infrastructure: number;
  /** Network and server problems; they only make the wait longer. */
  readonly transient: number;
  /** Answers that did not fit their schema, in this round. */
  readonly repairs: number;
  /** Consecutive waits for a usage limit; not limited. */
  readonly waits: number;
  readonly stalls: number;
  /** Turns that ended with a question. */
  readonly asks: number;
}

export type RequestState =
  | { readonly at: 'queued' }
  /** Until this moment. No event ends the wait. */
  | { readonly at: 'waiting'; readonly until: number }
  | { readonly at: 'blocked'; readonly question: string }
  | {
      readonly at: 'live';
      readonly attempt: string;
      readonly agent: string;
      readonly account: string;
      /** The account that `account` stands in for. Absent: none. */
      readonly insteadOf?: string;
      readonly session: string;
      /** The fallback that follows once the stopped turn is settled. */
      readonly stop: StallFallback | null;
      readonly stall: string | null;
      /** The person for whose note the turn is interrupted. Absent: it is not. */
      readonly interruptedBy?: string;
    }
  | { readonly at: 'answered' }
  | { readonly at: 'failed'; readonly cause: Cause; readonly why: string };

interface Thread {
  readonly key: string;
  readonly agent: string;
  /** The account that stood in for the agent's own, which the session belongs to. Absent: its own. */
  readonly on?: string;
}

/** One thing asked of one agent, until it is answered or fails. It may take several turns. */
export interface AgentRequest {
  readonly state: RequestState;
  readonly prompt: Prompt;
  /** `new`: the next attempt must not resume the session. */
  readonly session: 'same' | 'new';
  /** The next attempt begins in a folder that is like the run branch. A ref keeps the old content. */
  readonly reset: boolean;
  /** The session of the last attempt, and its agent. */
  readonly thread: Thread | null;
  readonly used: Used;
  /** Whether its turns in this session have looked at anything. Absent: none has ended, or the version is older. */
  readonly look?: Look;
}

export interface ReviewSlot {
  readonly role: string;
  readonly request: AgentRequest;
  readonly answer: ReviewAnswer | null;
  /** Absent: the findings of the answer name no file. */
  readonly cited?: Cited;
  /** Agents that gave no verdict in this round. */
  readonly tried: readonly string[];
  /** The agent that judges in place of one that gave no verdict. Absent: one that has the role. */
  readonly instead?: string;
}

export type Phase =
  | { readonly at: 'working' }
  /** `holdsQueue`: its evidence and its integration are one operation, and no other task is integrated meanwhile. */
  | { readonly at: 'gathering'; readonly holdsQueue?: true }
  /** All slots judge this commit. */
  | {
      readonly at: 'reviewing';
      readonly commit: string;
      readonly slots: readonly ReviewSlot[];
      /** Changes by the work to files that check it. Absent: none. */
      readonly checkers?: readonly CheckerChange[];
      /** The place of the review among those of the task, from 0. Absent: 0. */
      readonly review?: number;
    }
  /** `since`: its place in the queue. */
  | { readonly at: 'in-queue'; readonly commit: string; readonly since: number }
  | { readonly at: 'integrating'; readonly commit: string; readonly since: number }
  | { readonly at: 'verifying'; readonly commit: string; readonly candidate: string; readonly since: number }
  | { readonly at: 'advancing'; readonly commit: string; readonly candidate: string; readonly since: number }
  | { readonly at: 'stopping'; readonly as: TaskEnd; readonly why: string }
  | { readonly at: 'ended'; readonly as: TaskEnd; readonly cause: Cause | null; readonly why: string };

/** Why work went back to its author. */
export interface SentBack {
  readonly by: 'review' | 'conflict' | 'verify' | 'playbook' | 'evidence';
  readonly text: string;
}

/** One task's work, from its first attempt to its end. Plain JSON. */
export interface Work {
  readonly phase: Phase;
  readonly author: AgentRequest;
  /** From 1. Limited by the task's rounds, except for rounds that the operator granted. */
  readonly round: number;
  /** Rounds before the operator's last retry, which do not count. */
  readonly granted: number;
  /** The operator has tried it again, so only the run's limits apply. */
  readonly uncapped: boolean;
  /** How often it went back to the author without a new round, each limited separately. */
  readonly returns: { readonly evidence: number; readonly conflict: number; readonly verify: number };
  /** Everyone who worked on it. They may not review it. */
  readonly authors: readonly string[];
  /** All attempts so far, reviews included. */
  readonly attempts: number;
  /** Attempts that were reviews. */
  readonly reviews: number;
  /** The last commit that passed the check of evidence. It is delivered once the work is done. */
  readonly commit: string | null;
  /** The run branch's commit that has its work: `commit`, a merge of it, or what the branch had if it added nothing. Absent: none yet. */
  readonly delivered?: string;
  /** The commit that `commit` is compared with. */
  readonly base: string | null;
  /** The run branch's head when its author's last turn began. */
  readonly head: string | null;
  /** The last commit in which the engine kept the folder, proven or not. A missing folder is created from it. */
  readonly kept: string | null;
  /** The commit that was sent back. The same commit is no evidence. */
  readonly returned: string | null;
  /** The cause of the last return to the author, while it is not fixed; null: none. If the task fails, this is its first cause. */
  readonly sentBack: SentBack | null;
  /** The check that failed last, and how often the checks failed on that candidate. Absent: none did. */
  readonly checked?: { readonly candidate: string; readonly command: string; readonly failures: number };
  /** Notes from checks of this work. Absent: none. */
  readonly noted?: CheckNotes;
  /** Words of reviewers about changes to checkers. Absent: none. */
  readonly words?: readonly CheckerWord[];
  readonly output: Json | null;
  /** The last report of its author, with the round in which it gave its replies. Claims. Absent: there is none. */
  readonly report?: AuthorReport & { readonly round: number };
  readonly rounds: readonly RoundRecord[];
  readonly followUps: readonly string[];
  /** All feedback for the author, oldest first. */
  readonly feedback: readonly string[];
  /** By role: reviewers keep their session over the rounds. */
  readonly reviewers: Readonly<Record<string, Thread>>;
  /** Oldest first. Absent: none was replaced. */
  readonly replaced?: readonly ReplacedJudge[];
  /** The accounts on which its authors worked. */
  readonly madeOn: readonly string[];
  /** Each once. */
  readonly standIns: readonly StoodIn[];
  /** Why its agent cannot continue although it may have produced work. That work is judged as it is. */
  readonly stalled: string | null;
  /** The operator's decision on how it ends. */
  readonly override: { readonly as: TaskEnd; readonly by: string; readonly why: string } | null;
  /** Attempts that are being cancelled. */
  readonly leaving: readonly { readonly attempt: string; readonly agent: string; readonly session: string }[];
}
