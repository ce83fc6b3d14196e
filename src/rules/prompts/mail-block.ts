import { renderPrompt, type ChangedPrompts } from '../../prompts/render.ts';
import { plainLine } from '../../text/plain-text.ts';
import { fenceTag } from '../../text/fence.ts';

/** One message as it appears in a prompt. */
export interface PromptMessage {
  readonly id: string;
  readonly from: string;
  readonly type: string;
  readonly action?: string;
  readonly task?: string;
  /** It asks for an answer until then (epoch ms; null: without a limit). null: it asks for none. */
  readonly asks: { readonly until: number | null } | null;
  readonly body: string;
  /** The task says all of it. */
  readonly isInTask?: boolean;
}

/** Characters of one message and of all of them. An agent reads the rest with the tool `inbox`. */
const MOST_OF_ONE = 8_000;
const MOST_OF_ALL = 32_000;

/** The messages that fit into one prompt, in their order. Those with an id in `first` get their place before the others. */
export function fittingMessages(messages: readonly PromptMessage[], first: readonly string[]): PromptMessage[] {
  const fitting = new Set<PromptMessage>();
  let left = MOST_OF_ALL;
  const isFirst = ({ id }: PromptMessage): boolean => first.includes(id);
  for (const message of messages.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a)))) {
    const { length } = renderMessage(message);
    if (fitting.size > 0 && length > left) break;
    fitting.add(message);
    left -= length;
  }
  return messages.filter((message) => fitting.has(message));
}

/** The mail of a turn, near the end of its prompt. Empty without messages. */
export function renderMail(
  messages: readonly PromptMessage[],
  first: readonly string[] = [],
  changed: ChangedPrompts = {},
): string {
  if (messages.length === 0) return '';
  const shown = fittingMessages(messages, first).map(renderMessage);
  const rest = messages.length - shown.length;
  const facts = { messages: shown.join('\n\n'), more: rest === 0 ? '' : String(rest) };
  return renderPrompt('squad/mail', facts, changed);
}

function renderMessage({ id, from, type, action, task, asks, body, isInTask = false }: PromptMessage): string {
  const until = asks === null || asks.until === null ? '' : ` until ${new Date(asks.until).toISOString()}`;
  const head = [
    `From ${plainLine(from, 60)}: ${action === undefined ? type : `${type}/${action}`}`,
    ...(task === undefined ? [] : [`about ${plainLine(task, 130)}`]),
    `id ${plainLine(id, 200)}`,
    ...(asks === null ? [] : [`wants an answer${until}, with this id as \`corr\``]),
    ...(isInTask ? ['all that it says is in your task'] : []),
  ].join(' · ');
  return isInTask ? head : `${head}\n${fenceTag('message', body, MOST_OF_ONE)}`;
}
