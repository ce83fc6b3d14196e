import { SquadError } from '../../model/errors.ts';

/** Without `=`: an interactive zsh reads a word that begins with it as a program's path. */
const PLAIN = /^[A-Za-z0-9_/.:@%+,-]+$/;

/** One word of a POSIX shell that is this text, whatever is in it. Throws `bad-input` for a control character. */
export function shellWord(text: string): string {
  refuseControl(text);
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A line of a POSIX shell that runs exactly this command. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** A text of AppleScript. Throws `bad-input` for a control character: a line break in a script would end the statement. */
export function appleText(text: string): string {
  refuseControl(text);
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Also what only looks like a line break, and half a character, which no program would get as it is. */
function refuseControl(text: string): void {
  if (!/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && text.isWellFormed()) return;
  throw new SquadError({
    code: 'bad-input',
    message: `a terminal cannot be told ${JSON.stringify(text.slice(0, 80))}: it holds a control character`,
    next: 'Rename the folder or file; a path without control characters works.',
  });
}
