import type { z } from 'zod';
import { defined } from '../../text/defined.ts';
import type { MailDraft } from './envelope.ts';
import { MAIL_KINDS, type MailKind } from './kind.ts';
import type { ComposeFacts } from './kind-entry.ts';
import { refuse } from './refusal.ts';
import { MAIN } from './vocabulary.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The sender's input: fields of the message, and fields of its body by name. */
export interface Given {
  readonly to?: readonly string[] | undefined;
  readonly task_id?: string | undefined;
  readonly owner?: string | undefined;
  readonly corr?: string | undefined;
  readonly ttl_ms?: number | undefined;
  /** For kinds with a deadline: epoch ms, or `minutes` from now. */
  readonly deadline?: number | undefined;
  readonly minutes?: number | undefined;
  /** The whole body, in base64. */
  readonly base64?: string | undefined;
  /** Any fields of the body. They replace those of the same name. */
  readonly more?: Fields | undefined;
  readonly [field: string]: unknown;
}

/** The fields of a body that senders of this kind type, with their schemas. */
export function inputsOf({ body, filled = [], also = {} }: MailKind): Readonly<Record<string, z.ZodType>> {
  const own = Object.entries(body.shape).filter(([name]) => !filled.includes(name));
  return { ...Object.fromEntries(own), ...also } as Record<string, z.ZodType>;
}

/** Whether a sender has to type this field. */
export function isNeeded({ fromAsk = [] }: MailKind, name: string, schema: z.core.$ZodType): boolean {
  return schema._zod.optin === undefined && !fromAsk.includes(name);
}

/**
 * The draft that commands and tools send. Refuses fields that the kind does not have, and names the first one that is
 * missing; the router checks everything else.
 */
export function composeMessage(kind: MailKind, given: Given, facts: ComposeFacts): MailDraft {
  const { to: named, task_id, owner, corr, ttl_ms, deadline: _, minutes: __, base64, more: ___, ...fields } = given;
  const { asked } = facts;
  const stray = strayField(kind, given, fields);
  if (stray !== undefined) {
    const rule = `is not for ${titleOf(kind)}, which has: ${Object.keys(inputsOf(kind)).join(', ')}`;
    refuse('invalid_format', stray, rule);
  }
  const to = recipientsOf(kind, named, facts);
  const deadline = deadlineOf(given, facts);
  const ownDeadline = kind.answerTime?.field === 'deadline';
  if (ownDeadline && deadline === undefined) refuse('invalid_format', 'deadline', 'is required');
  const body = bodyOf(kind, fields, given, facts);
  const absent = Object.entries(kind.body.shape).find(
    ([name, schema]) => body[name] === undefined && schema._zod.optin === undefined,
  );
  if (absent !== undefined && base64 === undefined) refuse('invalid_format', absent[0], 'is required');
  return {
    to,
    type: kind.type,
    ...defined({
      action: kind.action ?? undefined,
      task_id: task_id ?? asked?.task_id,
      owner,
      corr: asked?.id ?? corr,
      ttl_ms,
      deadline: ownDeadline ? deadline : undefined,
    }),
    ...(base64 === undefined ? { body: JSON.stringify(body) } : { body_encoding: 'base64', body: base64 }),
  };
}

export function titleOf({ title, name }: MailKind): string {
  return title ?? name;
}

/** The refusal of an answer of the wrong kind, with the right tools; undefined: this kind answers the ask. */
export function answerRule({ answers }: MailKind, action: string | undefined): string | undefined {
  if (answers === null || action === undefined || answers.some((one) => one === action)) return undefined;
  const ways = MAIL_KINDS.filter((kind) => kind.answers?.some((one) => one === action)).flatMap(({ tool, words }) =>
    [words?.tool?.name, tool?.name].filter((name) => name !== undefined),
  );
  if (ways.length === 0) return `must be the id of an ask (${answers.join(', ')})`;
  const names = [...new Set(ways)].map((name) => `\`${name}\``).join(' or ');
  return `is the id of a message with the action ${action}: answer it with ${names}`;
}

function strayField(kind: MailKind, { deadline, minutes }: Given, fields: Fields): string | undefined {
  const inputs = inputsOf(kind);
  const stray = Object.keys(fields).find((name) => fields[name] !== undefined && !Object.hasOwn(inputs, name));
  if (stray !== undefined || kind.answerTime?.field !== undefined) return stray;
  if (minutes !== undefined) return 'minutes';
  return deadline === undefined ? undefined : 'deadline';
}

/** The sender of the ask that it answers; otherwise MAIN, which cannot write to itself. */
function recipientsOf(
  { answers, task }: MailKind,
  named: readonly string[] | undefined,
  { asked, from }: ComposeFacts,
): readonly string[] {
  if (named !== undefined && named.length > 0) return named;
  if (asked?.from !== undefined) return [asked.from];
  if (from !== MAIN && (answers !== null || task === 'optional')) return [MAIN];
  if (asked === undefined) refuse('invalid_format', 'to', 'is required');
  return refuse('invalid_format', 'corr', `must be the id of a message to ${from}`);
}

function deadlineOf({ deadline, minutes }: Given, { now }: ComposeFacts): number | undefined {
  return deadline ?? (minutes === undefined ? undefined : now + Math.ceil(minutes * 60_000));
}

function bodyOf(kind: MailKind, fields: Fields, given: Given, facts: ComposeFacts): Fields {
  const asked = facts.asked?.body ?? {};
  const reviewDeadline = kind.answerTime?.field === 'body.review_deadline' ? deadlineOf(given, facts) : undefined;
  const more = { ...defined({ review_deadline: reviewDeadline }), ...given.more };
  const body = {
    ...defined({ task_type: kind.taskType }),
    ...Object.fromEntries((kind.fromAsk ?? []).map((name) => [name, asked[name]])),
    ...defined(fields),
    ...more,
  };
  return { ...body, ...kind.complete?.(body, facts), ...more };
}
