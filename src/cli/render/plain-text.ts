import { plainText } from '../../model/plain-text.ts';

export { plainText };

/** One line, cut to `width` characters. */
export function plainLine(text: string, width = 200): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= width ? line : `${line.slice(0, width - 1).toWellFormed()}…`;
}
