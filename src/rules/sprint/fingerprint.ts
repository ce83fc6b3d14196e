import { sha256Of } from '../../model/sha256.ts';

/* Signs that open or end a part of a sentence. Those that belong to names and numbers are not among them: `.env`, `-3`, `5%`, `c#`. */
const OPENING = /^[([{"'`«¿¡（「『【]/;
const CLOSING = /[)\]}`»,;:.!?…。、！？，；：）」』】]$/;
/** Behind a digit they are units: 5" is five inches. */
const CLOSING_QUOTE = /(?<=\D)["']$/;
/** A list's sign at the start of a line. Numbers of lists count: they may be what is asked for. */
const BULLET = /^\s*[-*•]\s+(?=\S)/;
/** An en dash may be a minus. */
const BREAKS = /\s+|(?<=\p{L})[–—](?=\p{L})/u;
const NO_WORD = /^—+$/;
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;
/** Names of folders that consist of signs alone. */
const DOTS = /^\.{1,2}$/;

/** Equal for texts that ask for the same: neither case, punctuation, white space nor blank lines count. Numbers and names do. */
export function fingerprintOf(text: string): string {
  const words = wordsOf(text);
  return sha256Of(words.length === 0 ? text.normalize('NFC').trim() : words.join(' ')).slice(0, 32);
}

/** The words of a text, as they are compared. */
export function wordsOf(text: string): string[] {
  return text
    .normalize('NFC')
    .replaceAll(INVISIBLE, '')
    .replaceAll(/[‘’]/g, "'")
    .replaceAll(/[“”„]/g, '"')
    .split('\n')
    .flatMap((line) => line.replace(BULLET, '').split(BREAKS))
    .map((word) => (NO_WORD.test(word) ? '' : bare(word.toLowerCase())))
    .filter((word) => word !== '');
}

function bare(word: string): string {
  let rest = word;
  while (OPENING.test(rest)) rest = rest.slice(1);
  while (!DOTS.test(rest) && (CLOSING.test(rest) || CLOSING_QUOTE.test(rest))) {
    rest = rest.endsWith('...') ? withoutDots(rest) : rest.slice(0, -1);
  }
  return rest;
}

function withoutDots(word: string): string {
  let end = word.length;
  while (word[end - 1] === '.') end -= 1;
  return word.slice(0, end);
}
