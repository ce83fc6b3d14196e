import { z } from 'zod';
import type { Failure, FailureKind } from '../../model/failure.ts';
import { defined } from '../../text/defined.ts';
import { isJsonObject, parseJson } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { KIND_BY_STATUS } from '../shared/limit-notice.ts';
import { parseRetryAt } from '../../text/retry-at.ts';

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

/** The meaning of a failure text. `exec --json` gives no error codes, so the text is the only source. */
type CodexCause = Omit<Failure, 'mayHaveActed'>;

/** The first match counts. All texts were seen with 0.169.0. */
const TEXTS: readonly (readonly [RegExp, FailureKind, number?])[] = [
  [/no rollout found|no conversation found/i, 'session-not-found'],
  [/already has an active writer/i, 'session-busy'],
  [/required MCP servers? failed/i, 'mcp-unavailable'],
  [
    /ran out of room in the model's context window|context_length_exceeded|exceeds the context window/i,
    'context-overflow',
  ],
  [/usage limit/i, 'quota-exhausted', 429],
  [/quota exceeded|insufficient_quota|exceeded your current quota/i, 'quota-exhausted', 429],
  [/too many requests|rate.?limit/i, 'rate-limited', 429],
  [/failed to refresh token: 5\d\d/i, 'server-error'],
  [
    /missing environment variable|not (logged|signed) in|please log ?in|(log|sign) in again|refresh token|reauthenticate|invalid.?api.?key/i,
    'auth',
  ],
  [/at capacity|server_is_overloaded/i, 'overloaded', 503],
  [/high demand/i, 'server-error', 500],
  [/reason: max_output_tokens/i, 'output-truncated'],
  [/content_filter|policy violation|flagged for/i, 'model-refused'],
  [/model\b.{0,80}\b(does not exist|is not supported|not found)|model_not_found/i, 'model-unavailable', 404],
  [/error loading config|invalid value|failed to parse/i, 'bad-request'],
  [/model provider `[^`]*` not found|output schema/i, 'bad-request'],
  [/bwrap|bubblewrap|sandbox-exec|seatbelt|landlock/i, 'sandbox-unavailable'],
  [/stream disconnected|connection failed|waiting for network|error sending request|timed? ?out/i, 'network'],
];

const STATUSES: Readonly<Record<number, FailureKind>> = {
  ...KIND_BY_STATUS,
  413: 'context-overflow',
  422: 'bad-request',
  429: 'rate-limited',
  503: 'overloaded',
  529: 'overloaded',
};

/** Only so much of a text is searched, which bounds the work of every pattern. */
const MAX_TEXT = 4000;

/** undefined: the text has no known cause. Reset times without a date are relative to `now`. */
export function classifyCodexText(text: string, now: number): CodexCause | undefined {
  const head = text.slice(0, MAX_TEXT);
  const body = apiErrorBody(head);
  if (body !== undefined) return classifyApiError(body, now);
  const status = /unexpected status (\d{3})/i.exec(head)?.[1];
  if (status !== undefined) return causeOfStatus(Number(status), head, now);
  return causeOfText(head, now);
}

function causeOfText(text: string, now: number): CodexCause | undefined {
  if (/unknown configuration field/i.test(text)) {
    return { kind: 'cli-unsupported', message: `this version of Codex does not know a setting: ${text}` };
  }
  const match = TEXTS.find(([pattern]) => pattern.test(text));
  if (match === undefined) return undefined;
  const [, kind, httpStatus] = match;
  const isLimit = kind === 'quota-exhausted' || kind === 'rate-limited';
  return defined({ kind, message: text, httpStatus, retryAt: isLimit ? parseRetryAt(text, now) : undefined });
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

/** The status counts more than the text, except for a quota, which shares 429 with rate limits, and a full context. */
function causeOfStatus(httpStatus: number, message: string, now: number): CodexCause {
  const cause = causeOfText(message, now);
  if (cause?.kind === 'quota-exhausted' || cause?.kind === 'context-overflow') return { ...cause, httpStatus };
  const kind = STATUSES[httpStatus] ?? (httpStatus >= 500 ? 'server-error' : (cause?.kind ?? 'bad-request'));
  return { kind, message, httpStatus };
}

/** HTTP 400 arrives as the raw body of the API. undefined: the text is no such body. */
function apiErrorBody(text: string): { message: string; code: string } | undefined {
  const body = text.startsWith('{') ? parseJson(text) : undefined;
  const error = isJsonObject(body) ? body['error'] : undefined;
  if (!isJsonObject(error)) return undefined;
  const { message, code, type } = error;
  return { message: typeof message === 'string' ? message : text, code: `${String(code)} ${String(type)}` };
}

function classifyApiError(body: { message: string; code: string }, now: number): CodexCause {
  const cause = causeOfText(body.code, now) ?? causeOfText(body.message, now);
  return { httpStatus: 400, ...cause, kind: cause?.kind ?? 'bad-request', message: body.message };
}

/**
 * A value for `-c key=value`. Throws for values that TOML cannot express, because Codex silently reads invalid TOML as a raw
 * string.
 */
export function encodeToml(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'boolean':
      return String(value);
    case 'number':
      return encodeNumber(value);
    case 'object':
      return Array.isArray(value) ? `[${value.map(encodeToml).join(',')}]` : encodeTable(value);
    default:
      throw new TypeError(`TOML has no form for ${typeof value}`);
  }
}

function encodeTable(table: object | null): string {
  if (table === null) throw new TypeError('TOML has no form for null');
  const pairs = Object.entries(table).filter(([, value]) => value !== undefined);
  return `{${pairs.map(([key, value]) => `${encodeString(key)}=${encodeToml(value)}`).join(',')}}`;
}

function encodeString(text: string): string {
  // TOML has JSON's escapes, except for lone surrogates and DEL.
  return JSON.stringify(text.toWellFormed()).replaceAll('\u007F', String.raw`\u007F`);
}

function encodeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`TOML has no form for ${value}`);
  if (Number.isSafeInteger(value)) return String(value);
  // Beyond 64 bits plain digits are not a valid integer; an exponent makes a float.
  return Number.isInteger(value) ? value.toExponential() : String(value);
}
