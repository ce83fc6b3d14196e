import { plainLine } from './plain-text.ts';

/** A text as it can be pasted into a shell as one word. */
export function shellWord(text: string): string {
  const line = plainLine(text, 200);
  return /^[\w./:@%+-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`;
}
