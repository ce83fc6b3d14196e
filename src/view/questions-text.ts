import { plainLine } from '../text/plain-text.ts';

const MOST_TEXT = 250;

/** Why a run waits for a person, in one line: its first question, and how many more there are. */
export function questionsText(questions: readonly { readonly text: string }[]): string {
  const [first, ...more] = questions;
  if (first === undefined) return 'a question is open';
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return `${plainLine(first.text, MOST_TEXT)}${others}`;
}
