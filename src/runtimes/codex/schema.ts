import { z } from 'zod';
import type { Failure, FailureKind } from '../../model/failure.ts';
import type { Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { fieldsOf, isJsonObject } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { kindOfNames, kindOfStatus, kindOfText } from '../shared/failed-request.ts';
import { lineParser } from '../shared/native-lines.ts';
import type { Cause } from '../shared/turn-end.ts';

/** The lines of `codex exec --json`. Extra fields are dropped; lines of unknown types fail the parse and are ignored. */
const text = z.string().catch('');

const item = <const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), id: z.string(), ...shape });

const changeSchema = z.object({ path: z.string(), kind: z.enum(['add', 'update', 'delete']).catch('update') });
const todoSchema = z.object({ text, completed: z.boolean().catch(false) });

const itemSchema = z.discriminatedUnion('type', [
  item('agent_message', { text }),
  item('reasoning', { text }),
  item('error', { message: text }),
  item('command_execution', {
    command: text,
    /** Not cut by Codex: lines of 1 MB were seen. */
    aggregated_output: text,
    exit_code: z.number().int().nullish().catch(undefined),
    status: text,
  }),
  item('file_change', { changes: z.array(changeSchema).catch([]), status: text }),
  item('mcp_tool_call', {
    server: text,
    tool: text,
    arguments: z.unknown(),
    result: z.unknown(),
    status: text,
    error: z.object({ message: text }).nullish().catch(undefined),
  }),
  item('web_search', { query: text }),
  item('todo_list', { items: z.array(todoSchema).catch([]) }),
  item('collab_tool_call', { tool: text, status: text }),
]);
export type CodexItem = z.infer<typeof itemSchema>;

/** An impossible count makes the whole reading unknown. As zero it would report use that never cost anything. */
const count = z.number().int().nonnegative();
/** `input_tokens` includes cached tokens. All four count from the thread's beginning, forks included. */
const usageSchema = z
  .object({
    input_tokens: count,
    cached_input_tokens: count.default(0),
    output_tokens: count,
    reasoning_output_tokens: count.default(0),
  })
  .transform(
    (usage): Usage => ({
      inputTokens: Math.max(0, usage.input_tokens - usage.cached_input_tokens),
      cachedInputTokens: usage.cached_input_tokens,
      outputTokens: usage.output_tokens,
      reasoningTokens: usage.reasoning_output_tokens,
    }),
  );

const itemEvent = z.object({ type: z.literal(['item.started', 'item.updated', 'item.completed']), item: itemSchema });
const schemas = {
  'thread.started': z.object({ type: z.literal('thread.started'), thread_id: z.string().min(1) }),
  'turn.started': z.object({ type: z.literal('turn.started') }),
  'item.started': itemEvent,
  'item.updated': itemEvent,
  'item.completed': itemEvent,
  error: z.object({ type: z.literal('error'), message: text }),
  'turn.completed': z.object({ type: z.literal('turn.completed'), usage: usageSchema.nullish().catch(undefined) }),
  'turn.failed': z.object({
    type: z.literal('turn.failed'),
    error: z.object({ message: text }).catch({ message: '' }),
  }),
};
export type CodexEvent = z.infer<(typeof schemas)[keyof typeof schemas]>;

const ITEM_TYPES: ReadonlySet<unknown> = new Set(itemSchema.options.map(({ shape }) => shape.type.value));

export const parseEvent = lineParser<CodexEvent>(schemas, ({ type, item: one }) =>
  isJsonObject(one) && !ITEM_TYPES.has(one['type']) ? undefined : type,
);

/** Programs differ about these statuses; this is Codex's meaning. */
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
    const kind = kindOfNames(...body.names) ?? kindOfText(body.names.join(' ')) ?? kindOfText(body.message);
    return { httpStatus: (kind && STATUS_OF[kind]) ?? 400, kind: kind ?? 'bad-request', message: body.message };
  }
  const status = Number(/unexpected status (\d{3})/i.exec(message)?.[1]);
  if (status > 0) return { kind: kindOfStatus(status, message, STATUSES), message, httpStatus: status };
  const kind = kindOfText(message);
  return kind && defined({ kind, message, httpStatus: STATUS_OF[kind] });
}

/** HTTP 400 arrives as the raw body of the API. undefined: the text is no such body. */
function apiErrorBody(text: string): { message: string; names: readonly string[] } | undefined {
  const { error } = fieldsOf(text);
  if (!isJsonObject(error)) return undefined;
  const { message, code, type } = error;
  return { message: typeof message === 'string' ? message : text, names: [String(code), String(type)] };
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
