import { squadOn } from '../../squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, RunNameOptions } from '../command-context.ts';
import { printResult } from '../output.ts';

/** One word answers the only open question; with more words the first one is the question's id. */
export async function answer(
  { host, output }: CommandContext,
  words: readonly string[],
  options: RunNameOptions,
): Promise<void> {
  const [first = '', ...rest] = words;
  const given = rest.length === 0 ? first : rest.join(' ');
  const { name, open, ...found } = await squadOn(host).answer(
    options.run,
    given,
    rest.length === 0 ? undefined : first,
  );
  printResult(output, options, { type: 'answered', ...found }, [
    `answered  ${plainLine(found.question, 80)}: ${plainLine(found.answer, 200)}`,
    ...open.map(({ id, text }) => `open      ${plainLine(id, 80)}: ${plainLine(text, 200)}`),
    ...(found.driven ? [] : [`Next: squad resume ${name}`]),
  ]);
}
