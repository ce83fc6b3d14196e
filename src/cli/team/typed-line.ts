import { MAIN } from '../../model/mail/vocabulary.ts';

/** The meaning of a line that a person types into a pane. */
export type Typed =
  | { readonly do: 'nothing' | 'help' | 'asks' | 'quit' }
  /** A question; without `to`, for MAIN. */
  | { readonly do: 'say'; readonly to?: string; readonly text: string }
  | { readonly do: 'reply'; readonly to: number; readonly text: string }
  | { readonly do: 'refused'; readonly why: string };

/** The pane's member, and the numbers of the questions that it has to answer. */
export interface TypedAt {
  readonly address: string;
  readonly asks: readonly number[];
}

const COMMANDS: Readonly<Record<string, Typed>> = {
  '/help': { do: 'help' },
  '/asks': { do: 'asks' },
  '/quit': { do: 'quit' },
};

/** Pure. Never guesses, because a sent message cannot be taken back. */
export function readTyped(line: string, { address, asks }: TypedAt): Typed {
  const typed = line.replaceAll(/\s+/g, ' ').trim();
  if (typed === '') return { do: 'nothing' };
  if (typed.startsWith('/'))
    return COMMANDS[typed] ?? { do: 'refused', why: 'unknown command; /help lists the commands' };
  const [, number, answer] = /^#(\d{1,15})(?: (.*))?$/u.exec(typed) ?? [];
  if (number !== undefined) {
    return withText(answer, (text) => ({ do: 'reply', to: Number(number), text }), `#${number} your answer`);
  }
  const [, to, words] = /^@(\S+) ?(.*)$/u.exec(typed) ?? [];
  if (to !== undefined) return withText(words, (text) => ({ do: 'say', to, text }), `@${to} your question`);
  if (address !== MAIN) return { do: 'say', text: typed };
  const [only, ...more] = asks;
  if (only !== undefined && more.length === 0) return { do: 'reply', to: only, text: typed };
  const why =
    only === undefined
      ? 'no question is open; to ask a member, write @A your question'
      : `${asks.length} questions are open (${asks.map((ask) => `#${ask}`).join(', ')}): begin with the number of the question you answer`;
  return { do: 'refused', why };
}

/** The lines of `/help`. */
export function helpFor(address: string): readonly string[] {
  const plain =
    address === MAIN ? 'your words       answer the only open question' : 'your words       ask MAIN, as this member';
  return [
    plain,
    '#12 your words   answer message 12',
    '@A your words    ask A',
    '/asks            list the questions that wait for your answer',
    '/quit            close this pane; the run continues',
  ];
}

function withText(text: string | undefined, use: (text: string) => Typed, example: string): Typed {
  return text === undefined || text === '' ? { do: 'refused', why: `the text is missing: ${example}` } : use(text);
}
