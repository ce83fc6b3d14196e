import type { z } from 'zod';
import * as bodies from './bodies.ts';
import type { Json } from '../../text/json.ts';
import { HANDOFF, type MailAction, type MailType, type MailVerb } from './vocabulary.ts';

type MailKindName = MailAction | 'handoff' | 'note' | 'done' | 'fail';

/** What a message is: all that its type, its action and (of an assignment) its task type decide. */
export interface MailKind {
  readonly name: MailKindName;
  readonly type: MailType;
  /** null: it has none. */
  readonly action: MailAction | null;
  /** What its sender has to be allowed to do. */
  readonly verb: MailVerb;
  readonly body: z.ZodObject<z.core.$ZodShape, z.core.$loose>;
  /** Asks that it can answer, of which it has to name one; null: it may begin a thread. */
  readonly answers: readonly MailAction[] | null;
  readonly task: 'required' | 'optional';
}

const ASKS = ['review', 'assign', 'clarify', 'verify'] as const;
const ask = { type: 'ask', answers: null } as const;
const assign = { ...ask, action: 'assign', task: 'required' } as const;
const reply = { action: null, task: 'optional' } as const;

export const MAIL_KINDS: readonly MailKind[] = [
  { ...ask, name: 'review', action: 'review', verb: 'review', body: bodies.reviewBody, task: 'required' },
  { ...assign, name: 'assign', verb: 'assign', body: bodies.assignBody },
  { ...assign, name: 'handoff', verb: 'handoff', body: bodies.handoffBody },
  { ...ask, name: 'clarify', action: 'clarify', verb: 'ask', body: bodies.clarifyBody, task: 'optional' },
  { ...ask, name: 'verify', action: 'verify', verb: 'ask', body: bodies.verifyBody, task: 'optional' },
  {
    ...{ ...reply, name: 'review_feedback', type: 'report', action: 'review_feedback', verb: 'report' },
    ...{ body: bodies.feedbackBody, answers: ['review', 'verify'] },
  },
  { ...reply, name: 'note', type: 'send', verb: 'send', body: bodies.noteBody, answers: null },
  {
    ...reply,
    name: 'answer',
    type: 'send',
    action: 'answer',
    verb: 'send',
    body: bodies.answerBody,
    answers: ['clarify'],
  },
  { ...reply, name: 'done', type: 'done', verb: 'done', body: bodies.doneBody, answers: ['review', 'assign'] },
  {
    ...reply,
    name: 'verified',
    type: 'done',
    action: 'verified',
    verb: 'done',
    body: bodies.verifiedBody,
    answers: ['verify'],
  },
  { ...reply, name: 'fail', type: 'fail', verb: 'fail', body: bodies.failBody, answers: ASKS },
];

/** The actions that go with a type; null among them: none at all. */
export function actionsOf(type: MailType): readonly (MailAction | null)[] {
  return [...new Set(MAIL_KINDS.filter((kind) => kind.type === type).map((kind) => kind.action))];
}

/** undefined: there is no such message. A type with a single action is of that one without saying so. */
export function kindOf(type: MailType, action: MailAction | undefined, body: Json | undefined): MailKind | undefined {
  const [only, ...others] = actionsOf(type);
  const meant = action ?? (others.length === 0 ? only : null);
  const fitting = MAIL_KINDS.filter((kind) => kind.type === type && kind.action === meant);
  return fitting.find((kind) => kind.verb === 'handoff') === undefined || !isHandoff(body)
    ? fitting[0]
    : fitting.find((kind) => kind.verb === 'handoff');
}

function isHandoff(body: Json | undefined): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && body['task_type'] === HANDOFF;
}
