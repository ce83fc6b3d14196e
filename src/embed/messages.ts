import { AIMessage, type BaseMessage } from '@langchain/core/messages';
import { badInput } from '../model/errors.ts';
import type { RunEnd } from '../view/running-run.ts';
import { plainLine, plainText } from '../text/plain-text.ts';
import type { SquadRequest } from './squad-request.ts';

/** Who an answer of squad is from, in a list of messages. */
const NAME = 'squad';

/**
 * The objective in a conversation: the text of the last message of a person, all its text blocks in order. Throws `bad-input` if
 * there is none, or if it has something that squad cannot read, such as an image.
 */
export function objectiveOf(messages: readonly BaseMessage[]): SquadRequest['objective'] {
  const last = messages.findLast((message) => message.getType() === 'human');
  if (last === undefined) throw badInput('no message is from a person', 'Add a human message that says what to do.');
  const text = textOf(last.content).trim();
  if (text === '') throw badInput('the last message of a person is empty', 'Say in it what to do.');
  return { text, from: 'the last message' };
}

function textOf(content: BaseMessage['content']): string {
  if (typeof content === 'string') return content;
  return content.map((block) => textOfBlock(block)).join('\n\n');
}

function textOfBlock(block: unknown): string {
  if (typeof block === 'string') return block;
  const { type, text } =
    typeof block === 'object' && block !== null ? (block as { type?: unknown; text?: unknown }) : {};
  if (type === 'text' && typeof text === 'string') return text;
  throw badInput(
    `the last message of a person has a block of the type ${plainLine(String(type), 40)}`,
    'squad reads text only: put the file into the repository, and name it in the text.',
  );
}

export type ReportedEnd = Pick<
  RunEnd,
  'runId' | 'name' | 'headline' | 'branch' | 'head' | 'report' | 'failures' | 'questions' | 'next'
>;

/** The end of a run as a message for a conversation. The same end gives the same id, so that a list keeps it once. */
export function messageOf(end: RunEnd): AIMessage {
  const { runId, head } = end;
  return new AIMessage({ id: `${NAME}-${runId}-${head ?? end.outcome}`, name: NAME, content: reportOf(end) });
}

/** The end of a run in words: the headline, where the work is, what failed and what to do. */
export function reportOf(end: ReportedEnd): string {
  const { runId, name, headline, branch, head, report, failures, questions, next } = end;
  const lines = [
    plainLine(headline),
    `Run: ${name} (${runId})`,
    head === undefined ? 'Nothing was delivered.' : `Branch: ${branch} at ${head}`,
    ...failures.map(({ task, why }) => `Failed: ${plainLine(task)}: ${plainLine(why)}`),
    ...questions.map(({ id, text }) => `Question ${plainLine(id)}: ${plainLine(text)}`),
    ...next.map((command) => `Next: ${plainLine(command)}`),
    `Report: ${report}`,
  ];
  return plainText(lines.join('\n'));
}
