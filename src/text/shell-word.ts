/** Without `=`: an interactive zsh reads a word that begins with it as a program's path. */
const PLAIN = /^[A-Za-z0-9_/.:@%+,-]+$/;

/** Quotes a text so that a POSIX shell reads it as one word. Leaves control characters as they are. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
