import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { isBaseMessage, type BaseMessage } from '@langchain/core/messages';
import type { LLMResult } from '@langchain/core/outputs';
import type { Serialized } from '@langchain/core/load/serializable';
import { errorText } from '../model/errors.ts';
import type { ToolKind } from '../model/turn-event.ts';
import type { Usage } from '../model/usage.ts';
import type { InProcessTurn } from '../runtimes/in-process/agent.ts';
import { parseJson } from '../text/json.ts';

/** Hears what an agent of the application does, and reports it as a turn of squad. */
export class TurnReporter extends BaseCallbackHandler {
  readonly name = 'squad_turn';
  override readonly awaitHandlers = true;
  /** A model was called. */
  heard = false;
  readonly #report: InProcessTurn['report'];
  readonly #kinds: Readonly<Record<string, ToolKind>>;
  /** Tools that squad gave: their calls report themselves. */
  readonly #given: ReadonlySet<string>;
  readonly #open = new Set<string>();
  #messages: BaseMessage[] = [];

  constructor(report: InProcessTurn['report'], kinds: Readonly<Record<string, ToolKind>>, given: ReadonlySet<string>) {
    super();
    this.#report = report;
    this.#kinds = kinds;
    this.#given = given;
  }

  override handleLLMEnd({ generations }: LLMResult): void {
    this.heard = true;
    const said = generations
      .flat()
      .flatMap((one) => ('message' in one && isBaseMessage(one.message) ? [one.message] : []));
    this.#messages = [...this.#messages, ...said];
    const text = said.map(textOf).join('\n').trim();
    if (text !== '') this.#report({ type: 'text', text });
    this.#report({ type: 'usage', usage: usageOf(this.#messages) ?? {}, steps: this.#messages.length });
  }

  override handleToolStart(
    { id }: Serialized,
    input: string,
    runId: string,
    _parent?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    runName?: string,
  ): void {
    const tool = runName ?? id.at(-1) ?? 'tool';
    if (this.#given.has(tool)) return;
    this.#open.add(runId);
    const kind = this.#kinds[tool] ?? 'other';
    this.#report({ type: 'tool-started', id: runId, tool, kind, input: parseJson(input) ?? input });
  }

  override handleToolEnd(output: unknown, runId: string): void {
    const isMessage = isBaseMessage(output);
    const failed = isMessage && 'status' in output && output.status === 'error';
    this.#end(
      runId,
      !failed,
      isMessage ? textOf(output) : typeof output === 'string' ? output : JSON.stringify(output),
    );
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#end(runId, false, errorText(error));
  }

  #end(runId: string, ok: boolean, output = ''): void {
    if (this.#open.delete(runId)) this.#report({ type: 'tool-ended', id: runId, ok, output });
  }
}

/** The text of a message, without what else is in it. */
export function textOf({ content }: BaseMessage): string {
  if (typeof content === 'string') return content;
  const texts = content.map((block: unknown) =>
    typeof block === 'string' ? block : ((block ?? {}) as { text?: unknown }).text,
  );
  return texts.filter((text) => typeof text === 'string').join('');
}

/** The use of the models in these messages; undefined: one of them does not say it, or none is from a model. */
export function usageOf(messages: readonly BaseMessage[]): Usage | undefined {
  const said = messages.filter((message) => message.getType() === 'ai').map(metadataOf);
  if (said.length === 0 || said.includes(undefined)) return undefined;
  const sum = (count: (one: Metadata) => number | undefined): number =>
    said.reduce((total, one) => total + ((one && count(one)) ?? 0), 0);
  const cached = sum((one) => one.input_token_details?.cache_read);
  const reasoning = sum((one) => one.output_token_details?.reasoning);
  return {
    inputTokens: sum((one) => one.input_tokens) - cached,
    cachedInputTokens: cached,
    outputTokens: sum((one) => one.output_tokens),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
  };
}

interface Metadata {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_token_details?: { readonly cache_read?: number };
  readonly output_token_details?: { readonly reasoning?: number };
}

function metadataOf(message: BaseMessage): Metadata | undefined {
  const { usage_metadata: metadata } = message as { usage_metadata?: Partial<Metadata> };
  const { input_tokens: input, output_tokens: output } = metadata ?? {};
  const isKnown = typeof input === 'number' && typeof output === 'number';
  return isKnown ? { ...metadata, input_tokens: input, output_tokens: output } : undefined;
}
