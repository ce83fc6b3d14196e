import { CommanderError } from 'commander';
import type { ErrorLine } from '../model/error-line.ts';
import { errorText, isSquadError } from '../model/errors.ts';

/** Errors that a command has already printed, because its own line has to be the last one. */
const printed = new WeakSet<object>();

export function errorLine(error: unknown): ErrorLine {
  if (isSquadError(error)) {
    const { code, exitCode, message, next = null } = error;
    return { type: 'error', code, exitCode, message, next };
  }
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '');
    return { type: 'error', code: 'usage', exitCode: 2, message, next: 'Run the command with --help.' };
  }
  const next = 'Please report it, with the last lines of standard error.';
  return { type: 'error', code: 'bug', exitCode: 1, message: errorText(error), next };
}

/** The error as an object, which a command prints before its own last line. After a rethrow, only the text is printed. */
export function printedLine(error: unknown): ErrorLine {
  if (typeof error === 'object' && error !== null) printed.add(error);
  return errorLine(error);
}

export function wasPrinted(error: unknown): boolean {
  return typeof error === 'object' && error !== null && printed.has(error);
}
