import { plainLine } from './plain-text.ts';

/** Quotes a text so that a shell reads it as one word. */
export function shellWord(text: string): string {
  const line = plainLine(text, 200);
  return /^[\w./:@%+-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`;
}
