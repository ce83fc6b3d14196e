import type { Json } from '../../text/json.ts';
import { isSameName } from './address.ts';
import { refuse } from './refusal.ts';
import { REVIEW_MS } from './times.ts';
import type { MailTaskStatus } from './vocabulary.ts';

// Rules of bodies that need to know more than the body. They fill in what the sender left out.

export type BodyFields = Readonly<Record<string, Json>>;

/** The facts about the message around a body. */
export interface BodyContext {
  readonly now: number;
  /** Resolved. */
  readonly to: readonly string[];
  readonly taskId: string | undefined;
  /** The message that it answers. */
  readonly asked: { readonly action?: string | undefined } | undefined;
  task(id: string): MailTaskStatus | undefined;
  /** Tasks of mail that are not over. */
  openTasks(): readonly string[];
}

export function reviewRule(body: BodyFields, { to, now }: BodyContext): BodyFields {
  const { reviewers, review_deadline: by = now + REVIEW_MS } = body;
  const named = reviewers === undefined ? to : listOf(reviewers).map(String);
  if (named.length !== to.length || !to.every((name) => named.some((one) => isSameName(one, name)))) {
    refuse('invalid_format', 'body.reviewers', 'must be the same as `to`, or absent');
  }
  if (typeof by === 'number' && by <= now) {
    refuse('deadline_exceeded', 'body.review_deadline', 'must be in the future (epoch ms)');
  }
  return { ...body, reviewers: [...to], review_deadline: by };
}

export function dependenciesRule(body: BodyFields, context: BodyContext): BodyFields {
  for (const [index, id] of listOf(body['dependencies']).map(String).entries()) {
    const field = `body.dependencies[${index}]`;
    if (id === context.taskId) refuse('invalid_format', field, 'must be another task than its own');
    const status = context.task(id);
    if (status === undefined) refuse('missing_dependency', field, `is an unknown task; ${openText(context)}`);
    if (status === 'failed') refuse('missing_dependency', field, `is a task that failed; ${openText(context)}`);
  }
  return body;
}

export function feedbackRule(body: BodyFields): BodyFields {
  return { ...body, issue_count: listOf(body['issues']).length };
}

/** A review that ends without a report has found nothing. Its `done` says so, so that it cannot be mistaken for silence. */
export function doneRule(body: BodyFields, { asked }: BodyContext): BodyFields {
  if (asked?.action !== 'review') return body;
  const { status = 'no_issues' } = body;
  if (status === 'no_issues') return { ...body, status };
  refuse('invalid_format', 'body.status', 'must be no_issues in answer to a review; send issues as a report');
}

/** Most tasks that one refusal names. */
const MOST_NAMED = 10;

function openText(context: BodyContext): string {
  const open = context.openTasks();
  if (open.length === 0) return 'there are no open tasks';
  const more = open.length > MOST_NAMED ? ` and ${open.length - MOST_NAMED} more` : '';
  return `open tasks: ${open.slice(0, MOST_NAMED).join(', ')}${more}`;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
