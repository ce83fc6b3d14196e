import { MAIN } from '../../model/mail/vocabulary.ts';

/** What a line that a person has typed into a pane means. */
export type Typed =
  | { readonly do: 'nothing' | 'help' | 'asks' | 'quit' }
  /** A question; undefined: to MAIN. */
  | { readonly do: 'say'; readonly to?: string; readonly text: string }
  | { readonly do: 'reply'; readonly to: number; readonly text: string }
  | { readonly do: 'refused'; readonly why: string };

/** Where it was typed: whose pane it is, and by which numbers the asks go that wait for its answer. */
export interface TypedAt {
  readonly address: string;
  readonly asks: readonly number[];
}

/** Pure. Nothing is guessed: a message that is sent is not taken back. */
export function readTyped(line: string, { address, asks }: TypedAt): Typed {
  const typed = line.replaceAll(/\s+/g, ' ').trim();
  if (typed === '') return { do: 'nothing' };
  if (typed.startsWith('/')) return command(typed);
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
      ? 'nobody waits for an answer, so say whom it is for: @A your question'
      : `${asks.length} questions are open (${asks.map((ask) => `#${ask}`).join(', ')}): begin with the number of the one you answer`;
  return { do: 'refused', why };
}

/** As `/help` shows it. */
export function helpFor(address: string): readonly string[] {
  const plain =
    address === MAIN ? 'your words       answer the only open question' : 'your words       ask MAIN, as this member';
  return [
    plain,
    '#12 your words   answer message 12',
    '@A your words    ask A',
    '/asks            what waits for an answer from here',
    '/quit            close this pane; nothing else ends',
  ];
}

function command(typed: string): Typed {
  switch (typed) {
    case '/help':
      return { do: 'help' };
    case '/asks':
      return { do: 'asks' };
    case '/quit':
      return { do: 'quit' };
    default:
      return { do: 'refused', why: 'there is no such command; /help says what there is' };
  }
}

function withText(text: string | undefined, use: (text: string) => Typed, example: string): Typed {
  return text === undefined || text === '' ? { do: 'refused', why: `write it behind: ${example}` } : use(text);
}
