import { MAIN } from '../../model/mail/vocabulary.ts';
import { paneWords, type PaneWords } from './pane-words.ts';

/** The meaning of a line that a person types into a pane. */
export type Typed =
  | { readonly do: 'nothing' | 'help' | 'asks' | 'quit' }
  /** A question; without `to`, for MAIN. */
  | { readonly do: 'say'; readonly to?: string; readonly text: string }
  | { readonly do: 'reply'; readonly to: number; readonly text: string }
  /** A note to the pane's own agent. */
  | { readonly do: 'tell'; readonly text: string; readonly now: boolean }
  | { readonly do: 'refused'; readonly why: string };

/** The pane's member, and the numbers of the questions that it has to answer. */
export interface TypedAt {
  readonly address: string;
  readonly asks: readonly number[];
  /** It is an agent, so that a person can tell it something. */
  readonly isAgent: boolean;
}

const COMMANDS: Readonly<Record<string, Typed>> = {
  '/help': { do: 'help' },
  '/asks': { do: 'asks' },
  '/quit': { do: 'quit' },
};

/** Pure. Never guesses, because a sent message cannot be taken back. */
export function readTyped(
  line: string,
  { address, asks, isAgent }: TypedAt,
  words: PaneWords = paneWords('en'),
): Typed {
  const typed = line.replaceAll(/\s+/g, ' ').trim();
  if (typed === '') return { do: 'nothing' };
  const [, how, rest] = /^\/(as|now)(?: (.*))?$/u.exec(typed) ?? [];
  if (how === 'as' && address !== MAIN)
    return withText(rest, (text) => ({ do: 'say', text }), words.missing(`/as ${words.yourQuestion}`));
  if (how === 'now' && isAgent)
    return withText(rest, (text) => ({ do: 'tell', text, now: true }), words.missing(`/now ${words.yourNote}`));
  if (typed.startsWith('/')) return COMMANDS[typed] ?? { do: 'refused', why: words.unknown };
  const [, number, answer] = /^#(\d{1,15})(?: (.*))?$/u.exec(typed) ?? [];
  if (number !== undefined) {
    const example = `#${number} ${words.yourAnswer}`;
    return withText(answer, (text) => ({ do: 'reply', to: Number(number), text }), words.missing(example));
  }
  const [, to, question] = /^@(\S+) ?(.*)$/u.exec(typed) ?? [];
  if (to !== undefined)
    return withText(question, (text) => ({ do: 'say', to, text }), words.missing(`@${to} ${words.yourQuestion}`));
  if (address !== MAIN) return isAgent ? { do: 'tell', text: typed, now: false } : { do: 'say', text: typed };
  const [only, ...more] = asks;
  if (only !== undefined && more.length === 0) return { do: 'reply', to: only, text: typed };
  const why = only === undefined ? words.noQuestion : words.severalQuestions(asks.map((ask) => `#${ask}`));
  return { do: 'refused', why };
}

function withText(text: string | undefined, use: (text: string) => Typed, why: string): Typed {
  return text === undefined || text === '' ? { do: 'refused', why } : use(text);
}
