import type { Command } from 'commander';
import { usageError, type SquadError } from '../model/errors.ts';
import { nameOf, type Word } from '../text/flags.ts';
import { shellWord } from '../text/shell-word.ts';

/** Words that a person writes as a sentence, and may forget to quote. */
const SENTENCES = ['objective', 'text', 'answer'];

/** Says what to type in place of more words than a command takes. */
export function excessWords(command: Command, words: readonly Word[]): SquadError {
  const { args } = command;
  const last = words.at(-1);
  const name = ['squad', ...namesOf(command)].join(' ');
  const takes = words.length === 0 ? 'no argument' : words.length === 1 ? 'one argument' : `${words.length} arguments`;
  const before = args.slice(0, words.length - 1).map((word) => shellWord(word));
  const quoted = [name, ...before, shellWord(args.slice(words.length - 1).join(' '))].join(' ');
  return usageError(
    `\`${name}\` takes ${takes}, not ${args.length}`,
    last !== undefined && SENTENCES.includes(nameOf(last)) ? `Quote it: \`${quoted}\`.` : `Read \`${name} --help\`.`,
  );
}

function namesOf(command: Command): string[] {
  return command.parent === null ? [] : [...namesOf(command.parent), command.name()];
}
