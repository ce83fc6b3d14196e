import { z } from 'zod';
import { assertNever } from '../assert-never.ts';
import { jsonSchema, type Json } from '../../text/json.ts';
import { bodyText, inOrder } from './canonical-body.ts';
import type { MailKind } from './kind.ts';
import type { MailMessage } from './envelope.ts';
import { isTooLong, TOO_LONG } from './read-body.ts';
import { refused, type Checked } from './refusal.ts';
import { isSameName } from './route.ts';
import { issueRefusal } from './shape.ts';
import { REVIEW_MS } from './times.ts';
import type { MailTaskStatus } from './vocabulary.ts';

type Fields = Record<string, Json>;

const fieldsSchema: z.ZodType<Fields> = z.record(z.string(), jsonSchema);

interface BodyContext {
  readonly now: number;
  /** Resolved. */
  readonly to: readonly string[];
  readonly taskId: string | undefined;
  /** What it answers. */
  readonly asked: MailMessage | undefined;
  task(id: string): MailTaskStatus | undefined;
}

export interface CheckedBody {
  readonly fields: Readonly<Fields>;
  /** One line, in the one order. */
  readonly text: string;
}

/** A body by the rules of its kind, with what was left out filled in. */
export function checkBody(kind: MailKind, given: Fields, context: BodyContext): Checked<CheckedBody> {
  const read = kind.body.safeParse(given);
  if (!read.success) return { ok: false, refusal: issueRefusal(read.error, given, 'body') };
  const ruled = ruledBody(kind, fieldsSchema.parse(read.data), context);
  if (!ruled.ok) return ruled;
  const fields = inOrder(ruled.value, Object.keys(kind.body.shape));
  const text = bodyText(fields);
  return isTooLong(text) ? refused('invalid_format', 'body', TOO_LONG) : { ok: true, value: { fields, text } };
}

/** The rules that need to know more than the body. */
function ruledBody(kind: MailKind, body: Fields, context: BodyContext): Checked<Fields> {
  switch (kind.name) {
    case 'review':
      return ruledReview(body, context);
    case 'assign':
    case 'handoff':
      return ruledDependencies(body, context);
    case 'review_feedback':
      return { ok: true, value: { ...body, issue_count: listOf(body['issues']).length } };
    case 'done':
      return ruledDone(body, context);
    case 'clarify':
    case 'verify':
    case 'note':
    case 'answer':
    case 'verified':
    case 'fail':
      return { ok: true, value: body };
    default:
      return assertNever(kind.name);
  }
}

function ruledReview(body: Fields, { to, now }: BodyContext): Checked<Fields> {
  const { reviewers, review_deadline: by = now + REVIEW_MS } = body;
  const named = reviewers === undefined ? to : listOf(reviewers).map(String);
  if (named.length !== to.length || !to.every((name) => named.some((one) => isSameName(one, name)))) {
    return refused('invalid_format', 'body.reviewers', 'is the same as `to`');
  }
  if (typeof by === 'number' && by <= now) {
    return refused('deadline_exceeded', 'body.review_deadline', 'is in the future (epoch ms)');
  }
  return { ok: true, value: { ...body, reviewers: [...to], review_deadline: by } };
}

function ruledDependencies(body: Fields, context: BodyContext): Checked<Fields> {
  for (const [index, id] of listOf(body['dependencies']).map(String).entries()) {
    const field = `body.dependencies[${index}]`;
    if (id === context.taskId) return refused('invalid_format', field, 'is another task than its own');
    const status = context.task(id);
    if (status === undefined) return refused('missing_dependency', field, 'is a task that there is');
    if (status === 'failed') return refused('missing_dependency', field, 'is a task that has not failed');
  }
  return { ok: true, value: body };
}

/** A review that ends without a report has found nothing; that is said, so that it cannot be mistaken for silence. */
function ruledDone(body: Fields, { asked }: BodyContext): Checked<Fields> {
  if (asked?.action !== 'review') return { ok: true, value: body };
  const { status = 'no_issues' } = body;
  if (status !== 'no_issues') {
    return refused('invalid_format', 'body.status', 'is no_issues in answer to a review; issues go into a report');
  }
  return { ok: true, value: { ...body, status } };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
