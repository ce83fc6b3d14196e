import { stripVTControlCharacters } from 'node:util';

/**
 * Text from an agent, a repository or a file as it may be shown on a terminal: printable characters, newline and tab.
 * What `stripVTControlCharacters` leaves (CR, BS, NUL, unterminated sequences, bidi overrides) is made visible.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, visible);
}

/** One line, cut to `width` characters. */
export function plainLine(text: string, width = 200): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

function visible(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
