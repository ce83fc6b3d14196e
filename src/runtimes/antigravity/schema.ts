import { z } from 'zod';
import type { Usage } from '../../model/usage.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { kindOfStatus, kindOfText } from '../shared/failed-request.ts';
import { lenient, lineParser } from '../shared/native-lines.ts';
import type { Cause } from '../shared/turn-end.ts';

/** The lines of `agy --output-format stream-json`, of which its maker publishes no schema: what squad can do without may be absent. */
const text = lenient(z.string());
/** An impossible count makes the whole reading unknown. As zero it would report use that never cost anything. */
const count = z.number().int().nonnegative();

/** Counts from the beginning of the conversation. Output includes thinking. */
const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    thinking_tokens: count.default(0),
    cache_read_tokens: count.default(0),
  })
  .transform(
    ({ input_tokens: input, cache_read_tokens: cached, output_tokens: output, thinking_tokens }): Usage => ({
      // Gemini counts what it read from its cache as input, too.
      inputTokens: Math.max(0, input - cached),
      cachedInputTokens: cached,
      outputTokens: output,
      reasoningTokens: thinking_tokens,
    }),
  );

const stepSchema = z.object({
  step_index: count,
  state: z.enum(['ACTIVE', 'DONE', 'ERROR']),
  /** `user_input`, `agent_response`, `tool`, `checkpoint` or `subagent`. */
  step_type: z.string(),
  text_delta: z.string().catch(''),
  tool_name: text,
  tool_info: lenient(z.object({ parameters: lenient(jsonSchema), output: text, error: text })),
});
export type AgyStep = z.infer<typeof stepSchema>;

const resultSchema = z.object({
  status: z.string(),
  response: z.string().catch(''),
  error: z.string().catch(''),
  usage: lenient(usageSchema),
  denied_actions: z.array(z.object({ action: text, display_name: text })).catch([]),
  structured_output: lenient(jsonSchema),
});
export type AgyResult = z.infer<typeof resultSchema>;

const schemas = {
  init: z.object({
    event: z.literal('init'),
    conversation_id: z.string().min(1),
    init: z.object({ model: text }).catch({ model: undefined }),
  }),
  step_update: z.object({ event: z.literal('step_update'), step_update: stepSchema }),
  result: z.object({ event: z.literal('result'), result: resultSchema }),
};

export const parseLine = lineParser<z.infer<(typeof schemas)[keyof typeof schemas]>>(schemas, ({ event }) => event);

/** The last `error: …` on stderr, or all of it. */
export function errorLine(stderr: string): string {
  const line = stderr.split('\n').findLast((one) => one.startsWith('error: '));
  return (line?.slice('error: '.length) ?? stderr).trim();
}

const STATUS = /^AGY_ERROR: .{0,2000}"error_code":(\d{3})\b/m;
const STATUS_IN_TEXT = /\b(?:code|status|HTTP|Error) (\d{3})\b/i;

/** The meaning of an error. The status is on stderr, if anywhere. undefined: no known cause. */
export function causeOf(error: string, stderr: string): Cause | undefined {
  const message = error || errorLine(stderr);
  if (/^interrupted\b/.test(message)) return { kind: 'cancelled', message };
  const status = Number((STATUS.exec(stderr) ?? STATUS_IN_TEXT.exec(message))?.[1] ?? 0);
  if (status >= 400) return { kind: kindOfStatus(status, message, { 503: 'overloaded' }), message, httpStatus: status };
  const kind = kindOfText(message);
  return kind && { kind, message };
}

/** It gave up waiting for its own turn, and calls what it has so far a success. */
export const PRINT_TIMEOUT = /^\[agy\] print timeout after .{1,200}$/m;
