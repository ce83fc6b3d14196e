import { errorText, isSquadError, SquadError } from '../model/errors.ts';
import { machineError } from '../model/storage-error.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { noteCutMerges } from './cut-merges.ts';
import { errorLine, wasPrinted } from './error-line.ts';
import type { Output } from './output.ts';
import { type Command, CommanderError, createProgram } from './program.ts';
import { errorBlock, wholeErrorBlock } from './render/error-text.ts';
import { version } from './version.ts';

/** Runs one command. Prints its error, if there is one, and gives the exit code to `exit`. Returns the command's words. */
export async function runProgram(argv: readonly string[], base: Omit<CommandContext, 'logLevel'>): Promise<string> {
  const program = await createProgram(base, version(), argv);
  let json = wantsJson(argv);
  let words = '';
  program.hook('preAction', async (_, command) => {
    json = command.optsWithGlobals()['json'] === true;
    words = wordsOf(command);
    await noteCutMerges(base, words);
  });
  try {
    const asks = argv.includes('--help') || argv.includes('-h') || argv.includes('help');
    await program.parseAsync(asks && asksForNone(program, argv) ? argv.filter((word) => !HELP.has(word)) : argv);
  } catch (error) {
    base.exit(report(machineError(error), base.output, json));
  }
  return words;
}

const HELP = new Set(['help', '-h', '--help']);

/** Whether these words ask for the help of a command that does not exist. commander would show the help of all, as if it did. */
function asksForNone(program: Command, [, , ...words]: readonly string[]): boolean {
  let at = program;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (word === '--') return false;
    if (word.startsWith('-'))
      index += at.options.find(({ long, short }) => word === long || word === short)?.required === true ? 1 : 0;
    else if (word !== 'help') {
      const next = at.commands.find((command) => command.name() === word);
      if (next === undefined) return at.commands.length > 0 && at.registeredArguments.length === 0;
      at = next;
    }
  }
  return false;
}

/** A command waits for something that will never be, so that Node has nothing left to do. */
export const UNFINISHED = {
  code: 'unfinished',
  message: 'the command ended before its end: it waited for something that never came, so its work may not be done',
  next: 'See with `squad status` what is done, and give the command again. Please report it: this is a bug in squad.',
} as const;

/** Called for an uncaught error in the middle of a command. */
export function brokenOff(error: unknown): SquadError {
  return new SquadError({
    code: UNFINISHED.code,
    message: `squad broke in the middle of the command, so its work may not be done: ${errorText(error)}`,
    next: UNFINISHED.next,
    cause: error,
  });
}

/** Prints an error outside of every command. Returns the exit code. */
export function reportError(error: unknown, argv: readonly string[], output: Output): number {
  return report(error, output, wantsJson(argv));
}

function wordsOf(command: Command): string {
  const words: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) words.unshift(at.name());
  return words.join(' ');
}

/** Prints the error; returns its exit code. */
function report(error: unknown, output: Output, json: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (json && !wasPrinted(error)) output.json(errorLine(error));
  if (error instanceof CommanderError) return 2;
  if (isSquadError(error)) {
    const block = error.code === 'not-trusted' ? wholeErrorBlock : errorBlock;
    output.problem(`squad: ${block(error.message)}`);
    if (error.next !== undefined) output.problem(`Next: ${plainLine(error.next, 500)}`);
    return error.exitCode;
  }
  output.problem(`squad: a bug: ${plainLine(errorText(error), 2000)}`);
  output.problem(plainLine(error instanceof Error ? (error.stack ?? '') : '', 4000));
  return 1;
}

/** Prints an error in the command line itself, which prevents every command. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end === -1 ? undefined : end).includes('--json');
}
