import { z } from 'zod';
import { jsonSchema } from '../../model/json.ts';

/**
 * Lines of `claude -p --output-format stream-json`, as far as squad reads them. Tolerant on purpose: fields come and go
 * with weekly releases, so an odd value is read as absent, and a line of an unknown shape is no line at all.
 */
const text = z.string().optional().catch(undefined);
const count = z.number().nonnegative().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);

const tokensSchema = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
});

const modelTokensSchema = z.object({
  inputTokens: count,
  cacheCreationInputTokens: count,
  cacheReadInputTokens: count,
  outputTokens: count,
  thinkingTokens: count,
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
  /** Of a tool result: text, or blocks of text and other things. */
  content: z.unknown().optional(),
});
export type ContentBlock = z.infer<typeof contentBlockSchema>;

/** A message can hold plain text; blocks that are no objects are dropped, the others are kept. */
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
  /** Money counts over the whole session; tokens in `usage` over this turn, without sub-agents and aborted requests. */
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

const lineSchema = z.union([
  initSchema,
  deniedSchema,
  retrySchema,
  noticeSchema,
  limitSchema,
  assistantSchema,
  userSchema,
  streamSchema,
  resultSchema,
]);
export type ClaudeLine = z.infer<typeof lineSchema>;

/** undefined: a line that says nothing squad needs. */
export function parseLine(value: unknown): ClaudeLine | undefined {
  const line = lineSchema.safeParse(value);
  return line.success ? line.data : undefined;
}
