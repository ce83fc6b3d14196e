import { isJsonObject } from '../../text/json.ts';
import { kindOf, type MailAction } from './kind.ts';
import type { AnswerTime } from './kind-entry.ts';
import type { MailTaskStatus, MailType } from './vocabulary.ts';

// All effects of a message follow from its row in the table of kinds.

interface Said {
  readonly type: MailType;
  readonly action?: MailAction | null | undefined;
}

/** Whether this reply is an answer that the ask waits for. A note is none. */
export function closes(ask: MailAction | null | undefined, { type, action }: Said): boolean {
  return kindOf(type, action)?.answers?.some((one) => one === ask) === true;
}

/**
 * Whether it is the one answer to a question. A report may follow another, and how an assignment ended may be corrected.
 */
export function answersOnce(ask: MailAction | null | undefined, said: Said): boolean {
  const asksQuestion = kindOf('ask', ask)?.line?.[0] === 'question';
  return asksQuestion && said.type !== 'report' && closes(ask, said);
}

/** Whether it gives its recipients a task, as assignments and hand-offs do. */
export function opensTask({ type, action }: Said): boolean {
  return kindOf(type, action)?.taskState === 'open';
}

/** Whether its recipients owe an answer in words. An assignment waits for the end of its task instead. */
export function owesAnswer(said: Said): boolean {
  return said.type === 'ask' && !opensTask(said);
}

/** Whether it takes effect only when the turn that sent it completes. */
export function changesPlan({ type, action }: Said): boolean {
  return kindOf(type, action)?.changesPlan === true;
}

/**
 * Whether it answers by a document that its sender says is written. What a turn says so does not reach its recipients: once
 * squad knows whether the document was delivered, it answers in the sender's name.
 */
export function promisesDocument({ action }: { readonly action?: string | null | undefined }, body: unknown): boolean {
  return action === 'answer' && isJsonObject(body) && body['doc_updated'] === true;
}

/** The reason in an answer that squad sends for such a promise where nothing was delivered. */
export const NOT_WRITTEN = 'its sender says that the documentation has it, and has delivered no change of it';

/** The state of its task after it; undefined: unchanged. `about`: the action of the ask that it replies to, if any. */
export function taskStateAfter(
  { type, action }: Said,
  about: MailAction | null | undefined,
): MailTaskStatus | undefined {
  const endsOther =
    type !== 'ask' && about !== null && about !== undefined && !opensTask({ type: 'ask', action: about });
  return endsOther ? undefined : kindOf(type, action)?.taskState;
}

/** How long an ask with this action waits for its answer; undefined: it is no ask. */
export function answerTimeOf(action: MailAction | null | undefined): AnswerTime | undefined {
  return kindOf('ask', action)?.answerTime;
}

/** Whether a reply to a verify says that something is still wrong. */
export function reportsIssues({ type, action }: Said, body: unknown): boolean {
  if (type === 'fail') return true;
  const field = kindOf(type, action)?.findings;
  return field !== undefined && isJsonObject(body) && body[field] === true;
}

/** How a recipient's copy of a verify ended. `silent`: read, but not answered in time. `lost`: given up unread. */
export type VerifyEnd = 'open' | 'fine' | 'issues' | 'silent' | 'lost';

/**
 * The state of its task, once no recipient is waited for; undefined: one is. Silence counts as no new issue. What was not read was
 * not verified.
 */
export function verifiedTo(ends: readonly VerifyEnd[]): 'verified' | 'failed' | undefined {
  if (ends.includes('open')) return undefined;
  return ends.includes('issues') || ends.includes('lost') ? 'failed' : 'verified';
}

/** The id of the question that a turn which asked waits for; a person is asked under it where a person is MAIN: `mail/<seq>`. */
export function mailQuestionId(mailId: string): string {
  return `mail/${mailId.split('-').at(-1) ?? mailId}`;
}
