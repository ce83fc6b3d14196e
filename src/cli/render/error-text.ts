import { plainText } from '../../text/plain-text.ts';

const MOST_LINES = 60;

/**
 * A message on as many lines as it has. All but the first are indented, so that no text within it, which may come from a
 * file or a program, can pass for a line of squad's own.
 */
export function errorBlock(message: string): string {
  const lines = linesOf(message).map((line) => line.slice(0, 2000));
  const more = lines.length > MOST_LINES ? [`… and ${lines.length - MOST_LINES} more lines`] : [];
  return [...lines.slice(0, MOST_LINES), ...more].join('\n  ');
}

/** As `errorBlock`, but cuts nothing: for a list that a person is asked to agree to. */
export function wholeErrorBlock(message: string): string {
  return linesOf(message).join('\n  ');
}

function linesOf(message: string): string[] {
  return plainText(message)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
}
