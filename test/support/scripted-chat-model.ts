import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

/** What the model says next: a text, a tool call, or an error of its API. */
export type ModelReply =
  | string
  | { readonly tool: string; readonly input: Record<string, unknown> }
  | { readonly error: Error }
  | { readonly silent: true };

/** `messages`: the whole conversation; `calls`: tools that have answered since the last message of a person. */
export type ModelScript = (messages: readonly BaseMessage[], calls: number) => ModelReply;

/** A chat model without a network. It is paid by the length of what it reads since the last message of a person. */
export class ScriptedChatModel extends BaseChatModel {
  readonly #script: ModelScript;
  readonly #log: (text: string) => void;

  constructor(script: ModelScript, log: (text: string) => void = () => undefined) {
    super({ maxRetries: 0 });
    this.#script = script;
    this.#log = log;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    options.signal?.throwIfAborted();
    const from = messages.findLastIndex((message) => message.getType() === 'human');
    const recent = messages.slice(from);
    this.#log(JSON.stringify(recent.map(({ content }) => content)));
    const calls = recent.filter((message) => message.getType() === 'tool').length;
    const reply = this.#script(messages, calls);
    if (typeof reply === 'object' && 'error' in reply) throw reply.error;
    if (typeof reply === 'object' && 'silent' in reply) return aborted(options.signal);
    const input = 100 + JSON.stringify(recent.map(({ content }) => content)).length;
    const calling =
      typeof reply === 'string' ? [] : [{ id: `call-${messages.length}`, name: reply.tool, args: reply.input }];
    const said = new AIMessage({ content: typeof reply === 'string' ? reply : '', tool_calls: calling });
    const usage = { input_tokens: input, output_tokens: 7, total_tokens: input + 7 };
    const message = Object.assign(said, { usage_metadata: usage });
    return { generations: [{ text: typeof reply === 'string' ? reply : '', message }] };
  }
}

async function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });
}
