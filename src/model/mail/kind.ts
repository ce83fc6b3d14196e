import type { z } from 'zod';
import { isJsonObject, type Json } from '../../text/json.ts';
import * as bodies from './bodies.ts';
import { QUESTION_MS, REVIEW_MS, VERIFY_MS } from './times.ts';
import { HANDOFF, type MailTaskStatus, type MailType } from './vocabulary.ts';

/** How long an ask waits for its answer, and what silence means after that. */
export interface AnswerTime {
  /** When the time starts: when the ask is sent, or when its recipient has read it. */
  readonly from: 'sent' | 'read';
  /** null: only `field` says it. */
  readonly ms: number | null;
  /** The field with another moment (epoch ms): of the message, or of the body. */
  readonly field?: 'deadline' | 'body.review_deadline';
  /** `done`: a silent recipient counts as done. `failed`: the task fails. `open`: the ask stays open, with an alert each time. */
  readonly silence: 'done' | 'failed' | 'open';
}

interface Entry {
  readonly name: string;
  readonly type: MailType;
  /** null: it has none. */
  readonly action: string | null;
  /** The permission that its sender needs. */
  readonly verb: string;
  readonly body: z.ZodObject<z.core.$ZodShape, z.core.$loose>;
  /** Of several kinds with one type and action: the `task_type` that makes it this one. */
  readonly taskType?: string;
  /** Asks that it can answer: it names one of them in `corr`. null: it may begin a thread. */
  readonly answers: readonly string[] | null;
  /** Whether it names a task. */
  readonly task: 'required' | 'optional';
  /** The state of its task after it. A reply sets the state of a task only if it answers the ask that opened the task. */
  readonly taskState?: MailTaskStatus;
  /** Sent from a turn, it takes effect when the turn completes. */
  readonly changesPlan?: true;
  /** Of an ask. */
  readonly answerTime?: AnswerTime;
  /** The field of a reply that says whether its sender found issues. */
  readonly findings?: 'has_issues' | 'has_new_issues';
  /** It may go to a role that no agent has yet. */
  readonly toRole?: true;
}

const assignment = {
  type: 'ask',
  action: 'assign',
  answers: null,
  task: 'required',
  taskState: 'open',
  changesPlan: true,
  answerTime: { from: 'sent', ms: null, field: 'deadline', silence: 'failed' },
} as const;

/** Everything that is known of each kind of message. All else is derived from this table. */
const KINDS = [
  {
    name: 'review',
    type: 'ask',
    action: 'review',
    verb: 'review',
    body: bodies.reviewBody,
    answers: null,
    task: 'required',
    answerTime: { from: 'sent', ms: REVIEW_MS, field: 'body.review_deadline', silence: 'done' },
  },
  { ...assignment, name: 'assign', verb: 'assign', body: bodies.assignBody },
  { ...assignment, name: 'handoff', verb: 'handoff', body: bodies.handoffBody, taskType: HANDOFF, toRole: true },
  {
    name: 'clarify',
    type: 'ask',
    action: 'clarify',
    verb: 'ask',
    body: bodies.clarifyBody,
    answers: null,
    task: 'optional',
    answerTime: { from: 'read', ms: QUESTION_MS, silence: 'open' },
  },
  {
    name: 'verify',
    type: 'ask',
    action: 'verify',
    verb: 'ask',
    body: bodies.verifyBody,
    answers: null,
    task: 'optional',
    taskState: 'verify_pending',
    answerTime: { from: 'read', ms: VERIFY_MS, silence: 'done' },
  },
  {
    name: 'review_feedback',
    type: 'report',
    action: 'review_feedback',
    verb: 'report',
    body: bodies.feedbackBody,
    answers: ['review', 'verify'],
    task: 'optional',
    findings: 'has_issues',
  },
  { name: 'note', type: 'send', action: null, verb: 'send', body: bodies.noteBody, answers: null, task: 'optional' },
  {
    name: 'answer',
    type: 'send',
    action: 'answer',
    verb: 'send',
    body: bodies.answerBody,
    answers: ['clarify'],
    task: 'optional',
    changesPlan: true,
  },
  {
    name: 'done',
    type: 'done',
    action: null,
    verb: 'done',
    body: bodies.doneBody,
    answers: ['review', 'assign'],
    task: 'optional',
    taskState: 'done',
    changesPlan: true,
  },
  {
    name: 'verified',
    type: 'done',
    action: 'verified',
    verb: 'done',
    body: bodies.verifiedBody,
    answers: ['verify'],
    task: 'optional',
    changesPlan: true,
    findings: 'has_new_issues',
  },
  {
    name: 'fail',
    type: 'fail',
    action: null,
    verb: 'fail',
    body: bodies.failBody,
    answers: ['review', 'assign', 'clarify', 'verify'],
    task: 'optional',
    taskState: 'failed',
    changesPlan: true,
  },
] as const satisfies readonly Entry[];

type Kind = (typeof KINDS)[number];
export type MailAction = NonNullable<Kind['action']>;
/** What a member may be allowed to send. Reading its own mail needs no permission. */
export type MailVerb = Kind['verb'];

/** A kind of message: what its type, its action and (for assignments) its task type decide. */
export interface MailKind extends Entry {
  readonly name: Kind['name'];
  readonly action: MailAction | null;
  readonly verb: MailVerb;
  readonly answers: readonly MailAction[] | null;
}

export const MAIL_KINDS: readonly MailKind[] = KINDS;
export const MAIL_ACTIONS: readonly MailAction[] = distinct(KINDS.flatMap(({ action }) => action ?? []));
export const MAIL_VERBS: readonly MailVerb[] = distinct(KINDS.map(({ verb }) => verb));

/** The actions that go with a type; null among them: none at all. */
export function actionsOf(type: MailType): readonly (MailAction | null)[] {
  return distinct(MAIL_KINDS.filter((kind) => kind.type === type).map((kind) => kind.action));
}

/** undefined: there is no such message. A type with a single action has that one without saying so. */
export function kindOf(type: MailType, action: MailAction | null | undefined, body?: Json): MailKind | undefined {
  const [only = null, ...others] = actionsOf(type);
  const meant = action ?? (others.length === 0 ? only : null);
  const fitting = MAIL_KINDS.filter((kind) => kind.type === type && kind.action === meant);
  const taskType = isJsonObject(body) ? body['task_type'] : undefined;
  const exact = fitting.find((kind) => kind.taskType !== undefined && kind.taskType === taskType);
  return exact ?? fitting.find((kind) => kind.taskType === undefined);
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Set(values)];
}
