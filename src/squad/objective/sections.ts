import { levelOf, parseBlocks, type Token } from '../../text/markdown.ts';

/** A part of the file from one heading to the next. Lines count from 1; `end` is the line after its last. */
export interface Section {
  /** 0: what stands before the first heading. */
  readonly level: number;
  readonly heading: string;
  readonly start: number;
  /** First line after the heading. */
  readonly body: number;
  readonly end: number;
  readonly items: readonly Item[];
  /** First paragraph, with where it stands. */
  readonly paragraph: { readonly text: string; readonly line: number } | undefined;
  /** Headings below the section's own level. */
  readonly inner: readonly { readonly level: number; readonly heading: string; readonly line: number }[];
}

/** One entry of a list at the section's top. */
export interface Item {
  readonly line: number;
  /** Its paragraphs, each on one line; lists, code and quotes within it as they are written. */
  readonly parts: readonly { readonly own: boolean; readonly text: string }[];
  /** The paragraphs within its lists and quotes. */
  readonly nested: readonly { readonly text: string; readonly line: number }[];
}

/** Headings of levels 1 and 2 start a section; deeper ones belong to the section around them. */
export function readSections(lines: readonly string[]): Section[] {
  const tokens = parseBlocks(lines.join('\n'));
  const starts = tokens.flatMap((token, index) => (isSectionHeading(token) ? [index] : []));
  const bounds = [0, ...starts];
  return bounds.map((from, index) => {
    const first = index > 0;
    const to = bounds[index + 1] ?? tokens.length;
    const heading = first ? tokens[from] : undefined;
    const end = tokens[to]?.map?.[0] ?? lines.length;
    const content = tokens.slice(first ? from + 3 : from, to);
    return {
      level: heading === undefined ? 0 : levelOf(heading),
      heading: heading === undefined ? '' : (tokens[from + 1]?.content ?? ''),
      start: (heading?.map?.[0] ?? 0) + 1,
      body: (heading?.map?.[1] ?? 0) + 1,
      end: end + 1,
      items: readItems(content, lines),
      paragraph: firstParagraph(content),
      inner: innerHeadings(content),
    };
  });
}

function isSectionHeading(token: Token): boolean {
  return token.type === 'heading_open' && token.level === 0 && levelOf(token) <= 2;
}

function firstParagraph(tokens: readonly Token[]): Section['paragraph'] {
  const token = tokens.find(({ type, content }) => type === 'inline' && content.trim() !== '');
  return token === undefined ? undefined : { text: onOneLine(token.content), line: lineOf(token) };
}

function innerHeadings(tokens: readonly Token[]): Section['inner'] {
  return tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.level === 0
      ? [{ level: levelOf(token), heading: tokens[index + 1]?.content ?? '', line: lineOf(token) }]
      : [],
  );
}

/** The entries of all top-level lists. */
function readItems(tokens: readonly Token[], lines: readonly string[]): Item[] {
  const items: Item[] = [];
  let start = -1;
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 1) continue;
    if (token.type === 'list_item_open') start = index;
    if (token.type === 'list_item_close') items.push(readItem(tokens.slice(start, index), lines));
  }
  return items;
}

/** `tokens`: the item's opening one, then its blocks at level 2 and what is in them. */
function readItem(tokens: readonly Token[], lines: readonly string[]): Item {
  const parts: { own: boolean; text: string }[] = [];
  const nested: { text: string; line: number }[] = [];
  for (const [index, token] of tokens.entries()) {
    if (index === 0) continue;
    const before = tokens[index - 1];
    if (token.type === 'inline' && before?.type === 'paragraph_open' && before.level === 2) {
      parts.push({ own: true, text: onOneLine(token.content) });
    } else if (token.type === 'inline') {
      nested.push({ text: onOneLine(token.content), line: lineOf(token) });
    }
    const opens = token.level === 2 && token.nesting >= 0 && token.type !== 'paragraph_open';
    if (opens && token.type !== 'html_block' && token.map !== null) {
      const [from, to] = token.map;
      const source = lines.slice(from, to);
      if (from === tokens[0]?.map?.[0]) source[0] = withoutMarker(source[0] ?? '');
      parts.push({ own: false, text: dedent(source) });
    }
  }
  const line = tokens[0] === undefined ? 1 : lineOf(tokens[0]);
  return { line, parts: parts.filter(({ text }) => text !== ''), nested };
}

function lineOf(token: Token): number {
  return (token.map?.[0] ?? 0) + 1;
}

/** If an entry begins with a list or code, its marker is on the same line. */
function withoutMarker(line: string): string {
  return line.replace(/^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/, (marker) => ' '.repeat(marker.length));
}

function dedent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const indent = indents.reduce((least, next) => Math.min(least, next), Infinity);
  return lines
    .map((line) => line.slice(Number.isFinite(indent) ? indent : 0).trimEnd())
    .join('\n')
    .trimEnd();
}

/** A wrapped paragraph is one line of text. */
function onOneLine(content: string): string {
  return content
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();
}
