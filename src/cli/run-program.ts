import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { errorText, isSquadError } from '../model/errors.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { errorLine, wasPrinted } from './error-line.ts';
import type { Output } from './output.ts';
import { CommanderError, createProgram } from './program.ts';
import { errorBlock } from './render/error-text.ts';

/** Runs one command. Prints its error, if there is one, and gives the exit code to `exit`. */
export async function runProgram(argv: readonly string[], base: Omit<CommandContext, 'logLevel'>): Promise<void> {
  const program = await createProgram(base, version(), argv);
  let json = wantsJson(argv);
  program.hook('preAction', (_, command) => void (json = command.opts()['json'] === true));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    base.exit(report(error, base.output, json));
  }
}

/** Prints the error; returns its exit code. */
function report(error: unknown, output: Output, json: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (json && !wasPrinted(error)) output.json(errorLine(error));
  if (error instanceof CommanderError) return 2;
  if (isSquadError(error)) {
    output.problem(`squad: ${errorBlock(error.message)}`);
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

function version(): string {
  const path = findPackageJSON(import.meta.url) ?? '';
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
