import { z } from 'zod';
import type { FailureKind } from '../../model/failure.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { kindOfNames, kindOfStatus, kindOfText } from '../shared/failed-request.ts';
import { lenient, lineParser } from '../shared/native-lines.ts';
import type { Cause } from '../shared/turn-end.ts';

/**
 * The lines of `claude -p --output-format stream-json` that squad reads. Fields change with weekly releases, so an unexpected
 * value counts as absent, and a line of an unknown shape is ignored.
 */
const text = lenient(z.string());
const count = lenient(z.number().nonnegative());
const flag = lenient(z.boolean());

const system = <const Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.object({ type: z.literal('system'), subtype: z.literal(name), ...shape });

/** An impossible count makes the whole reading unknown. As zero it would report use that never cost anything. */
const tokens = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER);
const tokensSchema = z.object({
  inputTokens: tokens,
  cacheCreationInputTokens: tokens.nullish(),
  cacheReadInputTokens: tokens.nullish(),
  outputTokens: tokens,
  thinkingTokens: tokens.nullish(),
});

const contentBlockSchema = z.object({
  type: z.string(),
  text,
  thinking: text,
  id: text,
  name: text,
  input: z.unknown().optional(),
  tool_use_id: text,
  is_error: flag,
  /** In a tool result: text, or blocks with text. */
  content: z
    .union([z.string(), z.array(z.object({ text: z.string().catch('') }).catch({ text: '' }))])
    .transform((said) => (typeof said === 'string' ? said : said.map((block) => block.text).join('\n')))
    .catch(''),
});
export type ContentBlock = z.infer<typeof contentBlockSchema>;

/** Plain text, or blocks. Blocks of an unknown shape are dropped. */
const content = z.union([
  z.string().transform((plain): ContentBlock[] => [{ type: 'text', text: plain, content: '' }]),
  z.array(z.unknown()).transform((items) => items.flatMap((item) => contentBlockSchema.safeParse(item).data ?? [])),
]);

const resultSchema = z.object({
  type: z.literal('result'),
  subtype: text,
  is_error: flag,
  terminal_reason: text,
  api_error_status: count,
  api_error: text,
  stop_reason: text,
  result: text,
  errors: lenient(z.array(z.string())),
  session_id: text,
  num_turns: count,
  /** Both count the whole session. The field `usage` leaves out sub-agents and requests that were cut short. */
  total_cost_usd: count,
  modelUsage: lenient(z.record(z.string(), tokensSchema)),
  permission_denials: lenient(z.array(z.object({ tool_name: z.string(), tool_use_id: text }))),
  structured_output: lenient(jsonSchema),
});
export type ClaudeResult = z.infer<typeof resultSchema>;

const schemas = {
  'system/init': system('init', {
    session_id: z.string(),
    model: text,
    mcp_servers: lenient(z.array(z.object({ name: z.string(), status: text }))),
  }),
  'system/permission_denied': system('permission_denied', { tool_name: z.string(), tool_use_id: text, message: text }),
  'system/api_retry': system('api_retry', {
    attempt: count,
    max_retries: count,
    retry_delay_ms: count,
    error_status: count,
    error: text,
  }),
  'system/hook_response': system('hook_response', { outcome: text, output: text }),
  'system/informational': system('informational', { content: z.string() }),
  rate_limit_event: z.object({
    type: z.literal('rate_limit_event'),
    /** `resetsAt` is in seconds since the epoch. Status: allowed, allowed_warning or rejected. */
    rate_limit_info: z.object({ status: text, resetsAt: count }),
  }),
  assistant: z.object({
    type: z.literal('assistant'),
    message: z.object({ model: text, content }),
    parent_tool_use_id: text,
    /** Set when the CLI itself wrote the message because a request failed. */
    error: text,
    api_error_status: count,
  }),
  user: z.object({ type: z.literal('user'), message: z.object({ content }) }),
  stream_event: z.object({
    type: z.literal('stream_event'),
    event: z.object({
      type: z.literal('content_block_delta'),
      delta: z.object({ type: z.literal('text_delta'), text: z.string() }),
    }),
    parent_tool_use_id: text,
  }),
  result: resultSchema,
};
export type ClaudeLine = z.infer<(typeof schemas)[keyof typeof schemas]>;

export const parseLine = lineParser<ClaudeLine>(schemas, ({ type, subtype }) =>
  // Only text: an object from outside can have a toString of its own.
  type === 'system' && typeof subtype === 'string' ? `system/${subtype}` : type,
);

/** A request to the model that failed. */
export interface FailedRequest {
  readonly error: string | undefined;
  readonly status: number | undefined;
  readonly text: string;
}

export function kindOfRequest({ error = '', status, text: said }: FailedRequest): FailureKind {
  const named = kindOfNames(error);
  if (named !== undefined && !(named === 'bad-request' && kindOfText(said) === 'context-overflow')) return named;
  const code = error === 'rate_limit' ? 429 : status;
  if (code !== undefined) return kindOfStatus(code, said);
  // A retry after no answer at all has the error `unknown` and no status.
  return kindOfText(said) ?? (error === 'unknown' && said === '' ? 'network' : 'server-error');
}

/** Failed requests of a turn, as far as its end depends on them. */
export interface Failing {
  /** The main agent's latest message, if the CLI itself wrote it because a request failed. */
  readonly synthetic?: FailedRequest | undefined;
  readonly retry?: Pick<FailedRequest, 'error'> & { readonly delayMs: number | undefined };
  /** A subscription's limit was reached. `resetsAt` in seconds since the epoch. */
  readonly limit?: { readonly resetsAt: number | undefined };
}

export function causeOfResult(result: ClaudeResult, { synthetic, retry, limit }: Failing): Cause {
  const { subtype = 'no subtype', terminal_reason: reason = '', is_error: isError } = result;
  const message = result.errors?.join('; ') ?? result.result ?? synthetic?.text ?? '';
  const named = kindOfNames(subtype, reason, result.stop_reason, result.api_error);
  if (named !== undefined) return { kind: named, message: message || reason };
  if (limit !== undefined) return { kind: 'quota-exhausted', message };
  const error = synthetic?.error ?? (isError === true ? retry?.error : undefined);
  const status = result.api_error_status ?? synthetic?.status;
  if (isError === true || error !== undefined || status !== undefined) {
    return { kind: kindOfRequest({ error, status, text: message }), message };
  }
  // A message of the model's says nothing about the end.
  const fromCli = result.errors !== undefined || synthetic !== undefined;
  const kind = fromCli ? kindOfText(message) : undefined;
  return kind ? { kind, message } : { kind: 'protocol', message: message || `ended with ${subtype} ${reason}` };
}

/** Explains stderr that comes before any output on stdout. Knows the texts of 2.1.328. */
export function startProblem(message: string): Cause | undefined {
  const known = START_PROBLEMS.find(([pattern]) => pattern.test(message))?.[1] ?? kindOfText(message);
  const kind = known ?? (BAD_START.test(message) ? 'bad-request' : undefined);
  return kind && { kind, message };
}

const START_PROBLEMS: readonly [RegExp, FailureKind][] = [
  [/cannot be used with root|bypassPermissions|dangerously-skip-permissions/i, 'setting-unsupported'],
  [/not logged in|invalid api key|\/login|authentication/i, 'auth'],
  [/mcp/i, 'mcp-unavailable'],
];
const BAD_START = /json[- ]schema|settings|invalid|must be|cannot|requires|error:/i;
