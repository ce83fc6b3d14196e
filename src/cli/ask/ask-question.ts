import type { OpenQuestion } from '../../read-model/open-questions.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import type { Prompts } from './prompts.ts';

const LATER = '\u0000later';
const WRITE = '\u0000write';

/** Asks one question at the terminal. undefined: the person puts it off. */
export async function askQuestion(
  { id, text, options, freeText }: OpenQuestion,
  { prompts, say }: { readonly prompts: Prompts; readonly say: (line: string) => void },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const line of plainText(text).split('\n')) say(line);
  const message = `Your answer to ${plainLine(id, 80)}`;
  if (options.length === 0) return prompts.write(`${message} (Ctrl-C: later)`, signal);
  const choices = [
    ...options.map((value) => ({ value, label: value })),
    ...(freeText ? [{ value: WRITE, label: 'Something else' }] : []),
    { value: LATER, label: 'Later' },
  ];
  for (;;) {
    const chosen = await prompts.choose(message, choices, signal);
    if (chosen === undefined || chosen === LATER) return undefined;
    if (chosen !== WRITE) return chosen;
    const written = await prompts.write(message, signal);
    if (written !== undefined || signal.aborted) return written;
  }
}
