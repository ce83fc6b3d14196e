import type { RunCreate, RunUpdate } from 'langsmith/schemas';
import { allInput, type Usage } from '../../model/usage.ts';
import { defined } from '../../text/defined.ts';
import { rootOf, type Ancestor, type Span } from './span.ts';

const RUN_TYPES = { trace: 'chain', node: 'chain', turn: 'llm', check: 'chain', tool: 'tool' } as const;

/**
 * The body of `POST /runs/batch`. A root is posted as it begins and patched once it has ended; every other span is posted whole. Roots
 * that do both in one batch are posted whole too, in case the patch comes first.
 */
export function langsmithBody(spans: readonly Span[], project: string | undefined): string {
  const isEnd = ({ kind, isOpen }: Span): boolean => kind === 'trace' && isOpen !== true;
  const ended = new Map(spans.filter(isEnd).map((span) => [span.id, span]));
  const post = spans.filter((span) => !isEnd(span)).map((span) => runOf(ended.get(span.id) ?? span, project));
  const patch: RunUpdate[] = [...ended.values()].map((span) => runOf(span, project));
  return JSON.stringify({ post, patch });
}

function runOf(span: Span, project: string | undefined): RunCreate {
  const { id, above, kind, name, startedAt, endedAt, isOpen, error, metadata, usage, content } = span;
  const parent = above.at(-1)?.id;
  return {
    id: uuidOf(id),
    trace_id: uuidOf(rootOf(span)),
    dotted_order: [...above, span].map(orderOf).join('.'),
    ...defined({ parent_run_id: parent === undefined ? undefined : uuidOf(parent), session_name: project, error }),
    name,
    run_type: RUN_TYPES[kind],
    start_time: new Date(startedAt).toISOString(),
    inputs: content === undefined ? {} : { input: content.input },
    ...(isOpen === true ? {} : ended(endedAt, content)),
    extra: {
      metadata: {
        ...metadata,
        ...(kind === 'turn' ? modelOf(metadata) : {}),
        ...(usage === undefined ? {} : { usage_metadata: usageForLangSmith(usage) }),
      },
    },
    tags: ['squad'],
  };
}

function ended(at: number, content: Span['content']): Pick<RunCreate, 'end_time' | 'outputs'> {
  return {
    end_time: new Date(at).toISOString(),
    outputs: content === undefined ? {} : { output: content.output },
  };
}

/** The keys by which LangSmith finds prices, and filters. */
function modelOf({ provider, runtime, model }: Span['metadata']) {
  return { ls_model_type: 'chat', ...defined({ ls_provider: provider ?? runtime, ls_model_name: model }) };
}

/** LangSmith's input tokens are all of them. */
export function usageForLangSmith({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens, costUsd }: Usage) {
  const input = allInput({ inputTokens, cachedInputTokens });
  return defined({
    input_tokens: input,
    output_tokens: outputTokens,
    total_tokens: input === undefined || outputTokens === undefined ? undefined : input + outputTokens,
    input_token_details: cachedInputTokens === undefined ? undefined : { cache_read: cachedInputTokens },
    output_token_details: reasoningTokens === undefined ? undefined : { reasoning: reasoningTokens },
    total_cost: costUsd,
  });
}

/** Time to the microsecond, and the id. */
function orderOf({ startedAt, id }: Ancestor): string {
  const time = new Date(startedAt).toISOString().replaceAll(/[-:.Z]/g, '');
  return `${time}000Z${uuidOf(id)}`;
}

/** A UUID of version 8, from the first 32 digits of a hash. */
export function uuidOf(id: string): string {
  return [id.slice(0, 8), id.slice(8, 12), `8${id.slice(13, 16)}`, `8${id.slice(17, 20)}`, id.slice(20, 32)].join('-');
}
