/**
 * Whole escape sequences of ECMA-48: CSI; strings (OSC, DCS, SOS, PM, APC) with their end; the short ones. No part may hold
 * what begins another, so hostile text costs linear time: Node's `stripVTControlCharacters` takes minutes for a megabyte.
 */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;

/**
 * Text from an agent, a repository or a file as it may be shown on a terminal: printable characters, newline and tab.
 * Sequences are left out; every other control character (CR, BS, NUL, half a sequence, bidi overrides) is made visible.
 */
export function plainText(text: string): string {
  return text
    .replaceAll(SEQUENCES, '')
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
