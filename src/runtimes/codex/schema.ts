import { z } from 'zod';
import type { Failure, FailureKind } from '../../model/failure.ts';
import { defined } from '../../text/defined.ts';
import { isJsonObject, parseJson } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { kindOfStatus, kindOfText } from '../shared/failed-request.ts';
import type { Cause } from '../shared/turn-end.ts';

/** The lines of `codex exec --json`. Extra fields are dropped; lines of unknown types fail the parse and are ignored. */
const textSchema = z.string().catch('');

const itemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('agent_message'), id: z.string(), text: textSchema }),
  z.object({ type: z.literal('reasoning'), id: z.string(), text: textSchema }),
  z.object({ type: z.literal('error'), id: z.string(), message: textSchema }),
  z.object({
    type: z.literal('command_execution'),
    id: z.string(),
    command: textSchema,
    /** Not cut by Codex: lines of 1 MB were seen. */
    aggregated_output: textSchema,
    exit_code: z.number().int().nullish().catch(undefined),
    status: textSchema,
  }),
  z.object({
    type: z.literal('file_change'),
    id: z.string(),
    changes: z
      .array(z.object({ path: z.string(), kind: z.enum(['add', 'update', 'delete']).catch('update') }))
      .catch([]),
    status: textSchema,
  }),
  z.object({
    type: z.literal('mcp_tool_call'),
    id: z.string(),
    server: textSchema,
    tool: textSchema,
    arguments: z.unknown(),
    result: z.unknown(),
    error: z.object({ message: textSchema }).nullish().catch(undefined),
    status: textSchema,
  }),
  z.object({ type: z.literal('web_search'), id: z.string(), query: textSchema }),
  z.object({
    type: z.literal('todo_list'),
    id: z.string(),
    items: z.array(z.object({ text: textSchema, completed: z.boolean().catch(false) })).catch([]),
  }),
  z.object({ type: z.literal('collab_tool_call'), id: z.string(), tool: textSchema, status: textSchema }),
]);
export type CodexItem = z.infer<typeof itemSchema>;

/** An impossible count makes the whole reading unknown. As zero it would report use that never cost anything. */
const counterSchema = z.number().int().nonnegative();

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string().min(1) }),
  z.object({ type: z.literal('turn.started') }),
  z.object({ type: z.literal('item.started'), item: itemSchema }),
  z.object({ type: z.literal('item.updated'), item: itemSchema }),
  z.object({ type: z.literal('item.completed'), item: itemSchema }),
  z.object({ type: z.literal('error'), message: textSchema }),
  z.object({
    type: z.literal('turn.completed'),
    usage: z
      .object({
        /** Includes cached tokens. All four count from the thread's beginning, forks included. */
        input_tokens: counterSchema,
        cached_input_tokens: counterSchema.default(0),
        output_tokens: counterSchema,
        reasoning_output_tokens: counterSchema.default(0),
      })
      .nullish()
      .catch(undefined),
  }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: textSchema }).catch({ message: '' }) }),
]);
export type CodexEvent = z.infer<typeof eventSchema>;

const EVENT_TYPES: ReadonlySet<unknown> = new Set(eventSchema.options.map(({ shape }) => shape.type.value));
const ITEM_TYPES: ReadonlySet<unknown> = new Set(itemSchema.options.map(({ shape }) => shape.type.value));

/** undefined: squad needs nothing from this line. Checks the types first, because a failed parse costs ten times as much. */
export function parseEvent(value: unknown): CodexEvent | undefined {
  if (!isJsonObject(value) || !EVENT_TYPES.has(value['type'])) return undefined;
  const { item } = value;
  if (isJsonObject(item) && !ITEM_TYPES.has(item['type'])) return undefined;
  return eventSchema.safeParse(value).data;
}

/** What Codex means by statuses about which programs differ. */
const STATUSES = { 413: 'context-overflow', 503: 'overloaded' } as const;

/** The status behind a text that names none. */
const STATUS_OF: Partial<Record<FailureKind, number>> = {
  'quota-exhausted': 429,
  'rate-limited': 429,
  'model-unavailable': 404,
  overloaded: 503,
  'server-error': 500,
};

/**
 * The meaning of a failure text; `exec --json` gives no error codes, so the text is the only source. undefined: no known
 * cause.
 */
export function classifyCodexText(message: string): Cause | undefined {
  const body = apiErrorBody(message);
  if (body !== undefined) {
    const kind = kindOfText(body.code) ?? kindOfText(body.message) ?? 'bad-request';
    return { httpStatus: STATUS_OF[kind] ?? 400, kind, message: body.message };
  }
  const status = Number(/unexpected status (\d{3})/i.exec(message)?.[1]);
  if (status > 0) return { kind: kindOfStatus(status, message, STATUSES), message, httpStatus: status };
  const kind = kindOfText(message);
  return kind && defined({ kind, message, httpStatus: STATUS_OF[kind] });
}

/** HTTP 400 arrives as the raw body of the API. undefined: the text is no such body. */
function apiErrorBody(text: string): { message: string; code: string } | undefined {
  const body = text.startsWith('{') ? parseJson(text) : undefined;
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (!isJsonObject(error)) return undefined;
  const { message, code, type } = error;
  return { message: typeof message === 'string' ? message : text, code: `${String(code)} ${String(type)}` };
}

/**
 * Turns a network or server failure into a login failure if stderr says that Codex cannot renew its login. The turn's last
 * message names only the consequence, and a retry would not help.
 */
export function blameLogin(failure: Failure, stderr: string): Failure {
  if (failure.kind !== 'server-error' && failure.kind !== 'network' && failure.kind !== 'crashed') return failure;
  const lines = plainText(stderr).split('\n');
  const said = lines.flatMap((line) => LOGIN_LINE.exec(line)?.[1] ?? []);
  const message = said.findLast((text) => /(?:log|sign) in again/i.test(text));
  return message === undefined ? failure : { ...failure, kind: 'auth', message };
}

const LOGIN_LINE = /^\S{1,40} ERROR codex_login::auth::manager: (?:Failed to refresh token: )?(.{1,1000})$/;
