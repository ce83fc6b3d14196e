import { levelOf, parseText, type Token } from '../../text/markdown.ts';
import { DOCUMENT } from './document-texts.ts';

/** Checks that the document has these headings in order, each with text of its own. Judges nothing else in it. */
export function documentProblems(content: Uint8Array, headings: readonly string[]): string[] {
  const text = decode(content);
  if (text === undefined) return [DOCUMENT.notText];
  const tokens = parseText(text);
  const problems: string[] = [];
  if (!tokens.some((token, index) => hasText(token, tokens[index - 1]))) {
    problems.push(text.trim() === '' ? DOCUMENT.empty : DOCUMENT.noText);
  }
  const wanted = headings.map((heading) => ({ heading, name: nameOf(heading) }));
  const found = readHeadings(tokens, new Set(wanted.map(({ name }) => name)));
  let from = 0;
  let last = '';
  for (const { heading, name } of wanted) {
    const same = found.flatMap((one, index) => (one.name === name ? [{ ...one, index }] : []));
    const after = same.filter(({ index }) => index >= from);
    // A nested heading may have the same name.
    const match = after.find((one) => one.filled) ?? after[0];
    if (same.length === 0) problems.push(DOCUMENT.missing(heading));
    else if (match === undefined) problems.push(DOCUMENT.after(heading, last));
    else if (!match.filled) problems.push(DOCUMENT.bare(heading));
    if (match === undefined) continue;
    from = match.index + 1;
    last = heading;
  }
  return problems;
}

/** undefined: it is no text. */
function decode(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content);
    return text.includes('\0') ? undefined : text;
  } catch {
    // Only bytes that are not UTF-8 throw, and the answer says so.
    return undefined;
  }
}

interface Heading {
  readonly name: string;
  readonly level: number;
  /** Text follows before the next heading of its level, of a higher one, or that is wanted too. */
  filled: boolean;
}

/** The headings that stand in no list or quote. */
function readHeadings(tokens: readonly Token[], wanted: ReadonlySet<string>): readonly Heading[] {
  const found: Heading[] = [];
  let open: Heading[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open' && token.level === 0) {
      const heading = { name: nameOf(tokens[index + 1]?.content ?? ''), level: levelOf(token), filled: false };
      found.push(heading);
      open = wanted.has(heading.name) ? [heading] : [...open.filter(({ level }) => level < heading.level), heading];
    } else if (open.length > 0 && hasText(token, tokens[index - 1])) {
      for (const heading of open) heading.filled = true;
      open = [];
    }
  }
  return found;
}

const MOST_OF_HEADING = 500;

/** Case, spaces, emphasis and a colon at the end make no difference. */
function nameOf(heading: string): string {
  return withoutComments(heading.slice(0, MOST_OF_HEADING))
    .replaceAll(/[*_`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/[ :]+$/, '')
    .trim()
    .toLowerCase();
}

/** Whether a reader sees a letter: no heading, no head of a table, no picture, and no markup. */
function hasText({ type, content }: Token, before: Token | undefined): boolean {
  if (type === 'inline' && (before?.type === 'heading_open' || before?.type === 'th_open')) return false;
  if (type === 'fence' || type === 'code_block') return LETTER.test(content);
  const shown = withoutComments(content)
    .replaceAll(/<(script|style)\b[^>]{0,999}>[^<]{0,9999}/gi, '')
    .replaceAll(/<[?!][^>]{0,999}>/g, '')
    // Keeps the words of a link or a picture.
    .replaceAll(/\](?:\([^()]{0,999}\)|\[[^[\]]{0,999}\])/g, ']')
    .replace(/^\[[ x]\](?:\s|$)/i, '');
  return LETTER.test(shown.replaceAll(/&#?\w{1,31};|<\/?[a-z][^<>]*>/gi, ''));
}

/** A letter or digit that can be seen. */
const LETTER = /[[\p{L}\p{N}]--[\u115f\u1160\u3164\uffa0]]/v;

/** In linear time, whatever stands in it. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = text.indexOf('<!--'); start >= 0; start = text.indexOf('<!--', at)) {
    parts.push(text.slice(at, start));
    const end = text.indexOf('-->', start + 4);
    if (end < 0) return parts.join('');
    at = end + 3;
  }
  return [...parts, text.slice(at)].join('');
}
