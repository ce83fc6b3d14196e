import { allInput } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { rootOf, type Span } from './span.ts';

type Value = string | number | boolean;

/** The body of `POST /v1/traces` in OTLP's JSON, with the attributes of the conventions for generative AI. */
export function otlpBody(spans: readonly Span[]): string {
  const resource = { attributes: attributesOf({ 'service.name': 'squad' }) };
  const scopeSpans = [{ scope: { name: 'squad' }, spans: spans.map(spanOf) }];
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
}

/** Kinds: 1 internal, 3 client. Codes of the status: 1 ok, 2 error. */
function spanOf(span: Span) {
  const { id, above, kind, startedAt, endedAt, error, metadata } = span;
  const parent = above.at(-1)?.id;
  const own = Object.entries(metadata).map(([name, value]): [string, Value] => [`squad.${name}`, value]);
  return {
    traceId: rootOf(span),
    spanId: shortened(id),
    ...(parent === undefined ? {} : { parentSpanId: shortened(parent) }),
    name: nameOf(span),
    kind: kind === 'turn' ? 3 : 1,
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf({ ...Object.fromEntries(own), ...generativeAi(span) }),
    status: error === undefined ? { code: 1 } : { code: 2, message: error },
  };
}

function nameOf({ kind, name, metadata }: Span): string {
  if (kind === 'turn') return `invoke_agent ${metadata['agent'] ?? name}`;
  return kind === 'tool' ? `execute_tool ${name}` : name;
}

function generativeAi({ kind, metadata, usage, content, error }: Span): Record<string, Value> {
  const { thread_id: thread, session, agent, runtime, provider, model, tool, call } = metadata;
  const failed = defined({ 'error.type': error });
  if (kind === 'tool') {
    return defined({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': call,
      'gen_ai.conversation.id': session ?? thread,
      'gen_ai.tool.call.arguments': content?.input,
      'gen_ai.tool.call.result': content?.output,
      ...failed,
    });
  }
  if (kind !== 'turn') return failed;
  return defined({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': provider ?? runtime,
    'gen_ai.system': provider ?? runtime,
    'gen_ai.agent.name': agent,
    'gen_ai.conversation.id': session ?? thread,
    'gen_ai.request.model': model,
    // The conventions count cached tokens among those of the input.
    'gen_ai.usage.input_tokens': usage && allInput(usage),
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
    'squad.cost_usd': usage?.costUsd,
    'gen_ai.input.messages': content && message('user', content.input),
    'gen_ai.output.messages': content && message('assistant', content.output),
    ...failed,
  });
}

function message(role: string, content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}

function attributesOf(values: Readonly<Record<string, Value>>) {
  return Object.entries(values).map(([key, value]) => ({ key, value: valueOf(key, value) }));
}

/** JSON has 64-bit integers as text. */
function valueOf(key: string, value: Value) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) && !key.endsWith('_usd') ? { intValue: String(value) } : { doubleValue: value };
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** OTLP has 8 bytes for a span. */
function shortened(id: string): string {
  return id.slice(0, 16);
}
