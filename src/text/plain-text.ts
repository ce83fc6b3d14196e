/**
 * Whole escape sequences of ECMA-48. No part may hold what begins another, so hostile text takes linear time: Node's
 * `stripVTControlCharacters` takes minutes for a megabyte.
 */
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/g;

/** Invisible characters, and those that change how others look. Joiners pass between letters and pictures that need them. */
const INVISIBLE =
  /(?![\t\n]|(?<=(?![\u0000-\u00ff])[\p{L}\p{M}\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}])[\u200c\u200d](?=(?![\u0000-\u00ff])[\p{L}\p{M}\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}]))[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** Makes untrusted text safe to show: removes terminal sequences, and shows other invisible characters as codes. */
export function plainText(text: string): string {
  return text.replaceAll(SEQUENCES, '').replaceAll('\r\n', '\n').replaceAll(INVISIBLE, visibleCode);
}

/** For the content of files, in which nothing may be hidden: a terminal sequence shows as the codes that it is made of. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, visibleCode);
}

/** A character as the code that it is. */
export function visibleCode(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  return code.length > 4 ? `\\u{${code}}` : `\\u${code}`;
}

/** One line, cut to `width` characters. */
export function plainLine(text: string, width = 200): string {
  const line = plainText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= width ? line : `${line.slice(0, width - 1).toWellFormed()}…`;
}

/** A name that anyone may have chosen, in a message. */
export function quotedName(name: string): string {
  return JSON.stringify(plainLine(name, 60));
}

/** Characters that JSON does not escape itself: DEL, C1, format characters, line separators and fillers. */
const LEFT_BY_JSON = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/gu;

/** A value as JSON, on one line or indented. Programs read the same value, and no character controls a terminal or is invisible there. */
export function plainJsonText(value: unknown, indent: number | string = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(LEFT_BY_JSON, (character) =>
    Array.from({ length: character.length }, (_, index) => escapedUnit(character.charCodeAt(index))).join(''),
  );
}

export function asciiJsonText(json: string): string {
  return json.replaceAll(/[^\u0000-\u007f]/g, (unit) => escapedUnit(unit.charCodeAt(0)));
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}

/** Printable text of at most this many characters, with its lines. Looks at no more of a long text than it needs. */
export function shortText(text: string, most: number): string {
  const plain = plainText(text.slice(0, most * 4).toWellFormed()).trim();
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}
