import { z } from 'zod';
import type { FailureKind } from '../../model/failure.ts';
import { isJsonObject, jsonSchema } from '../../text/json.ts';
import { KIND_BY_STATUS } from '../shared/limit-notice.ts';

/**
 * The lines of `claude -p --output-format stream-json` that squad reads. Fields change with weekly releases, so an unexpected
 * value counts as absent, and a line of an unknown shape is ignored.
 */
const text = z.string().optional().catch(undefined);
const count = z.number().nonnegative().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

/** An impossible count makes the whole reading unknown. As zero it would report use that never cost anything. */
const tokens = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER);

const tokensSchema = z.object({
  input_tokens: tokens,
  cache_creation_input_tokens: tokens.nullish(),
  cache_read_input_tokens: tokens.nullish(),
  output_tokens: tokens,
});

const modelTokensSchema = z.object({
  inputTokens: tokens,
  cacheCreationInputTokens: tokens.nullish(),
  cacheReadInputTokens: tokens.nullish(),
  outputTokens: tokens,
  thinkingTokens: tokens.nullish(),
});
export type ModelTokens = z.infer<typeof modelTokensSchema>;

const byModel = z.record(z.string(), modelTokensSchema).optional().catch(undefined);

const initSchema = z.object({
  type: z.literal('system'),
  subtype: z.literal('init'),
  session_id: z.string(),
  model: text,
  mcp_servers: z
    .array(z.object({ name: z.string(), status: text }))
    .optional()
    .catch(undefined),
});

const deniedSchema = z.object({
  type: z.literal('system'),
  subtype: z.literal('permission_denied'),
  tool_name: z.string(),
  tool_use_id: text,
  message: text,
});

const retrySchema = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: count,
  max_retries: count,
  retry_delay_ms: count,
  error_status: count,
  error: text,
});

const noticeSchema = z.object({
  type: z.literal('system'),
  subtype: z.literal('informational'),
  content: z.string(),
});

const limitSchema = z.object({
  type: z.literal('rate_limit_event'),
  /** `resetsAt` is in seconds since the epoch. Status: allowed, allowed_warning or rejected. */
  rate_limit_info: z.object({ status: text, resetsAt: count }),
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
  /** In a tool result: text, or blocks. */
  content: z.unknown().optional(),
});
export type ContentBlock = z.infer<typeof contentBlockSchema>;

/** Plain text, or blocks. Blocks of an unknown shape are dropped. */
const content = z.union([
  z.string().transform((plain): ContentBlock[] => [{ type: 'text', text: plain }]),
  z.array(z.unknown()).transform((items) =>
    items.flatMap((item): ContentBlock[] => {
      const block = contentBlockSchema.safeParse(item);
      return block.success ? [block.data] : [];
    }),
  ),
]);

const assistantSchema = z.object({
  type: z.literal('assistant'),
  message: z.object({ model: text, content }),
  parent_tool_use_id: text,
  /** Set when the CLI itself wrote the message because a request failed. */
  error: text,
  api_error_status: count,
});

const userSchema = z.object({
  type: z.literal('user'),
  message: z.object({ content }),
});

const streamSchema = z.object({
  type: z.literal('stream_event'),
  event: z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.literal('text_delta'), text: z.string() }),
  }),
  parent_tool_use_id: text,
});

const resultSchema = z.object({
  type: z.literal('result'),
  subtype: text,
  is_error: flag,
  terminal_reason: text,
  api_error_status: count,
  api_error: text,
  stop_reason: text,
  result: text,
  errors: z.array(z.string()).optional().catch(undefined),
  session_id: text,
  num_turns: count,
  /** Cost of the whole session. `usage` has the tokens of this turn, without sub-agents and aborted requests. */
  total_cost_usd: count,
  usage: tokensSchema.optional().catch(undefined),
  modelUsage: byModel,
  model_usage_since_last_result: byModel,
  permission_denials: z
    .array(z.object({ tool_name: z.string(), tool_use_id: text }))
    .optional()
    .catch(undefined),
  structured_output: jsonSchema.optional().catch(undefined),
});
export type ClaudeResult = z.infer<typeof resultSchema>;

/** By `type`, and `subtype` for system lines, so that a line is tried against one schema only. */
const schemas = {
  'system/init': initSchema,
  'system/permission_denied': deniedSchema,
  'system/api_retry': retrySchema,
  'system/informational': noticeSchema,
  rate_limit_event: limitSchema,
  assistant: assistantSchema,
  user: userSchema,
  stream_event: streamSchema,
  result: resultSchema,
};
export type ClaudeLine = z.infer<(typeof schemas)[keyof typeof schemas]>;
const schemaByName: ReadonlyMap<unknown, z.ZodType<ClaudeLine>> = new Map(Object.entries(schemas));

/** undefined: squad needs nothing from this line. */
export function parseLine(value: unknown): ClaudeLine | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, subtype } = value;
  return schemaByName.get(type === 'system' ? `system/${String(subtype)}` : type)?.safeParse(value).data;
}

/** One failed request to the model. */
interface FailedRequest {
  readonly error: string | undefined;
  readonly status: number | undefined;
  readonly text: string;
}

/** Words about an exhausted account. Searched only in the text of a failure. */
const QUOTA =
  /\b(?:usage|session|weekly|hour|opus|sonnet|spend(?:ing)?) limit\b|hit your limit|(?<!rate )limit reached|out of extra usage|quota/i;

const TOO_LONG = /prompt is too long|context (?:window|length)/i;

export function kindOfError({ error, status, text }: FailedRequest): FailureKind {
  if (error === 'billing_error' || /credit balance is too low/i.test(text)) return 'billing';
  if (status === 529 || error === 'overloaded') return 'overloaded';
  if (error === 'rate_limit' || status === 429) return QUOTA.test(text) ? 'quota-exhausted' : 'rate-limited';
  const known = kindNamed(ERRORS, error ?? '') ?? KIND_BY_STATUS[status ?? 0];
  if (known !== undefined && !(known === 'bad-request' && TOO_LONG.test(text))) return known;
  if (TOO_LONG.test(text)) return 'context-overflow';
  if (status !== undefined && status >= 500) return 'server-error';
  if (/timed out/i.test(text)) return 'stalled';
  if (/ECONN|ENOTFOUND|EAI_AGAIN|connection|socket hang up|fetch failed/i.test(text)) return 'network';
  if (QUOTA.test(text)) return 'quota-exhausted';
  // A retry after no answer at all has the error `unknown` and no status.
  return error === 'unknown' && text === '' ? 'network' : 'server-error';
}

/** Kinds, and the CLI's own names for each. */
type KindNames = readonly (readonly [FailureKind, readonly string[]])[];

function kindNamed(kinds: KindNames, name: string): FailureKind | undefined {
  return kinds.find(([, names]) => names.includes(name))?.[0];
}

const ERRORS: KindNames = [
  ['auth', ['authentication_failed', 'oauth_org_not_allowed', 'account_on_hold', 'verification_required']],
  ['auth', ['cloud_credential_error']],
  ['model-unavailable', ['model_not_found']],
  ['output-truncated', ['max_output_tokens']],
  ['bad-request', ['invalid_request']],
];

/** By the CLI's own names for the end of a turn: `result.subtype`, then `result.terminal_reason`. */
export function kindOfEnd(subtype: string, reason: string): FailureKind | undefined {
  return kindNamed(SUBTYPES, subtype) ?? kindNamed(REASONS, reason);
}

const SUBTYPES: KindNames = [
  ['step-limit', ['error_max_turns']],
  ['cost-limit', ['error_max_budget_usd']],
  ['bad-output', ['error_max_structured_output_retries']],
];

const REASONS: KindNames = [
  ['step-limit', ['max_turns']],
  ['cost-limit', ['budget_exhausted']],
  ['bad-output', ['structured_output_retry_exhausted', 'malformed_tool_use_exhausted']],
  ['context-overflow', ['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker']],
  ['cancelled', ['aborted_streaming', 'aborted_tools']],
  ['bad-request', ['image_error', 'stop_hook_prevented', 'hook_stopped', 'turn_setup_failed']],
];

/** The kind of an error on stderr, where stdout is empty. */
export function kindOfStartProblem(stderr: string): FailureKind | undefined {
  return START_PROBLEMS.find(([pattern]) => pattern.test(stderr))?.[1];
}

/** Texts of 2.1.328. */
const START_PROBLEMS: readonly [RegExp, FailureKind][] = [
  [/is already in use/i, 'session-busy'],
  [/No conversation found/i, 'session-not-found'],
  [/sandbox required but unavailable|without a working sandbox/i, 'sandbox-unavailable'],
  [
    /unknown option|unknown command|error: option|invalid choice|argument .* is invalid|too old|minimum version/i,
    'cli-unsupported',
  ],
  [/cannot be used with root|bypassPermissions|dangerously-skip-permissions/i, 'setting-unsupported'],
  [/not logged in|invalid api key|\/login|authentication/i, 'auth'],
  [/mcp/i, 'mcp-unavailable'],
  [/json[- ]schema|settings|invalid|must be|cannot|requires|error:/i, 'bad-request'],
];
