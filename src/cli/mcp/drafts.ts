import type { z } from 'zod';
import type { MailDraft } from '../../model/mail/envelope.ts';
import type { Checked } from '../../model/mail/refusal.ts';
import { HANDOFF } from '../../model/mail/vocabulary.ts';
import type {
  ASK_ACTIONS,
  askInput,
  assignInput,
  doneInput,
  failInput,
  handoffInput,
  replyInput,
  reportInput,
  sendInput,
} from './arguments.ts';
import type { Asked } from './asked.ts';
import { invalid } from './tool.ts';

// Pure: what a tool was called with, as a message of the protocol. Whether it may be sent, the mailbox judges.

/** Waiting for its place counts: a night. */
const HANDOFF_MINUTES = 480;
const HOUR_MINUTES = 60;
/** Of a question that is about no place in the code. */
const NOWHERE = '-';

export function noteDraft({ text, ...envelope }: z.infer<typeof sendInput>): MailDraft {
  return { ...envelope, type: 'send', body: bodyText({ text }) };
}

/** An answer to a clarify or a verify; the other asks have tools of their own. */
export function replyDraft(given: z.infer<typeof replyInput>, asked: Asked): Checked<MailDraft> {
  const { text, doc_updated, reason, has_new_issues, new_issue_count } = given;
  const envelope = replyEnvelope(given, asked);
  const action = asked.message?.action;
  switch (action) {
    case 'verify':
      return valid({
        ...envelope,
        type: 'done',
        action: 'verified',
        body: bodyText({ has_new_issues, new_issue_count, summary: text }),
      });
    case 'review':
      return invalid(
        'corr',
        'is of a review: answer it with `report`, or with `done` where there is nothing to report',
      );
    case 'assign':
      return invalid('corr', 'is of an assignment: answer it with `done` or `fail`');
    case 'clarify':
    case 'answer':
    case 'review_feedback':
    case 'verified':
    case undefined:
      return valid({
        ...envelope,
        type: 'send',
        action: 'answer',
        body: bodyText({ answer: text, doc_updated, reason }),
      });
    default:
      return action satisfies never;
  }
}

export function reportDraft(given: z.infer<typeof reportInput>, asked: Asked): Checked<MailDraft> {
  const { issues, summary, questions } = given;
  const { doc_path = asked.body['doc_path'] } = given;
  const body = { doc_path, has_issues: issues.length > 0, issue_count: issues.length, issues, summary, questions };
  return valid({
    ...replyEnvelope(given, asked),
    type: 'report',
    action: 'review_feedback',
    body: bodyText(body),
  });
}

export function doneDraft(given: z.infer<typeof doneInput>, asked: Asked): Checked<MailDraft> {
  const { summary, has_new_issues, new_issue_count } = given;
  const envelope = replyEnvelope(given, asked);
  if (asked.message?.action === 'verify') {
    const body = bodyText({ has_new_issues: has_new_issues ?? false, new_issue_count, summary });
    return valid({ ...envelope, type: 'done', action: 'verified', body });
  }
  if (has_new_issues === undefined && new_issue_count === undefined) {
    return valid({ ...envelope, type: 'done', body: bodyText({ summary }) });
  }
  return invalid(has_new_issues === undefined ? 'new_issue_count' : 'has_new_issues', 'is for the answer to a verify');
}

export function failDraft(given: z.infer<typeof failInput>, asked: Asked): Checked<MailDraft> {
  const { reason, blocked_by } = given;
  return valid({ ...replyEnvelope(given, asked), type: 'fail', body: bodyText({ reason, blocked_by }) });
}

type AskInput = z.infer<typeof askInput>;
type AskAction = (typeof ASK_ACTIONS)[number];

const ASK_FIELDS: Readonly<Record<AskAction, readonly (keyof AskInput)[]>> = {
  clarify: ['question', 'context', 'code_path', 'expected', 'doc_path'],
  verify: ['question', 'doc_path', 'changes_summary'],
  review: ['doc_path', 'focus', 'minutes'],
};
const ASK_ENVELOPE: readonly (keyof AskInput)[] = ['action', 'to', 'task_id'];

/** `now`: epoch ms. */
export function askDraft({ action, to, task_id, ...fields }: AskInput, now: number): Checked<MailDraft> {
  const mine = ASK_FIELDS[action];
  const stray = Object.keys(fields).find((name) => !mine.some((own) => own === name));
  if (stray !== undefined) {
    return invalid(stray, `is nothing that a ${action} says; it says ${[...ASK_ENVELOPE, ...mine].join(', ')}`);
  }
  const { minutes, code_path, ...body } = fields;
  const place = action === 'clarify' ? { code_path: code_path ?? NOWHERE } : {};
  const until = action === 'review' && minutes !== undefined ? { review_deadline: deadlineIn(minutes, now) } : {};
  return valid({
    to,
    type: 'ask',
    action,
    ...(task_id === undefined ? {} : { task_id }),
    body: bodyText({ ...body, ...place, ...until }),
  });
}

export function assignDraft(given: z.infer<typeof assignInput>, now: number): MailDraft {
  const { to, task_id, minutes = HOUR_MINUTES, ...body } = given;
  return { to, task_id, type: 'ask', action: 'assign', deadline: deadlineIn(minutes, now), body: bodyText(body) };
}

/** Work for a role, or for whoever had it before. */
export function handoffDraft(given: z.infer<typeof handoffInput>, now: number): MailDraft {
  const { to, task_id, minutes = HANDOFF_MINUTES, ...rest } = given;
  const body = bodyText({ task_type: HANDOFF, ...rest });
  return { to, task_id, type: 'ask', action: 'assign', deadline: deadlineIn(minutes, now), body };
}

/** To whoever asked. Where nobody knows who that was, the mailbox refuses `corr` before it looks at an address. */
function replyEnvelope(
  { task_id }: { readonly task_id?: string },
  { id, message }: Asked,
): Pick<MailDraft, 'to' | 'corr' | 'task_id'> {
  return { to: [message?.from ?? 'MAIN'], corr: id, ...(task_id === undefined ? {} : { task_id }) };
}

/** One line; what is undefined is left out. */
function bodyText(body: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(body);
}

function deadlineIn(minutes: number, now: number): number {
  return now + Math.ceil(minutes * 60_000);
}

function valid(value: MailDraft): Checked<MailDraft> {
  return { ok: true, value };
}
