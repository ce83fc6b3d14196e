import { coerceMessageLikeToMessage, type BaseMessage, type BaseMessageLike } from '@langchain/core/messages';
import { objectiveOf, reportOf, type ReportedEnd } from '../embed/messages.ts';
import type { OpenQuestion } from '../view/open-questions.ts';
import type { RunReading } from '../view/read-run.ts';
import type { AskedQuestion } from '../model/plan/asked-question.ts';
import { badInput } from '../model/errors.ts';

/** A message as chat clients of LangGraph read it. The same message keeps its id. */
export interface ChatMessage {
  readonly id: string;
  readonly type: 'human' | 'ai';
  readonly content: string;
}

/** LangGraph's mark of a list of messages: clients that find it offer a chat. */
export const MESSAGES_SCHEMA = { type: 'array', langgraph_type: 'messages', items: { type: 'object' } } as const;

/** A run as a conversation: the objective, each question and its answer, and how the run ended. */
export function messagesOf(
  { row, definition, board, questions }: RunReading,
  open: readonly AskedQuestion[],
  end: ReportedEnd | undefined,
): ChatMessage[] {
  const message = (id: string, type: ChatMessage['type'], content: string): ChatMessage => {
    return { id: `squad-${row.id}-${id}`, type, content };
  };
  const pair = (
    { id, text, options }: Pick<AskedQuestion, 'id' | 'text'> & { options: readonly string[] },
    answer: string | null,
  ): ChatMessage[] => [
    message(`question-${id}`, 'ai', [text, ...options.map((option) => `- ${option}`)].join('\n')),
    ...(answer === null ? [] : [message(`answer-${id}`, 'human', answer)]),
  ];
  const given = new Map(questions.map(({ id, recorded }: OpenQuestion) => [id, recorded]));
  const asked = [...board.questions.values()];
  const others = open.filter(({ id }) => !board.questions.has(id));
  return [
    message('request', 'human', definition.objective.text),
    ...asked.flatMap((one) => pair(one, one.answer ?? given.get(one.id) ?? null)),
    ...others.flatMap((one) => pair(one, null)),
    ...(end === undefined ? [] : [message(`end-${end.head ?? 'none'}`, 'ai', reportOf(end))]),
  ];
}

/** Text of the last message of a person. Throws `bad-input` where squad cannot read the messages. */
export function lastWords(messages: readonly unknown[]): string {
  const { text } = objectiveOf(messages.map(messageIn)) as { readonly text: string };
  return text;
}

function messageIn(given: unknown): BaseMessage {
  try {
    return coerceMessageLikeToMessage(given as BaseMessageLike);
  } catch {
    throw badInput('one of the `messages` is no message', 'Send {"type": "human", "content": "…"}.');
  }
}
