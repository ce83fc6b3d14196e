import stringWidth from 'string-width';
import type { Style } from './style.ts';

type Format = Parameters<Style>[0];

/** Characters that are one column each. */
const NARROW = /^[\u0020-\u007e·…─●○◉◐✓✗–→‖■≥]*$/u;

/** Columns that plain text takes. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

interface Character {
  readonly text: string;
  readonly at: number;
  readonly width: number;
}

const segmenter = new Intl.Segmenter();
/** Widths of characters that are not narrow, which take long to find. */
const widths = new Map<string, number>();
const MOST_WIDTHS = 10_000;

/** The characters of a text as people see them. */
function* charactersOf(text: string): Generator<Character> {
  for (const { segment, index } of segmenter.segment(text)) {
    let width = widths.get(segment);
    if (width === undefined) {
      width = widthOf(segment);
      if (widths.size >= MOST_WIDTHS) widths.clear();
      widths.set(segment, width);
    }
    yield { text: segment, at: index, width };
  }
}

/** Plain text in at most `width` columns. Looks only at what is shown: a frame cuts long texts again and again. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (NARROW.test(text)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  let used = 0;
  /** Where the text ends that leaves a column for the mark. */
  let end = 0;
  for (const character of charactersOf(text)) {
    used += character.width;
    if (used > width) return `${text.slice(0, end)}…`;
    if (used < width) end = character.at + character.text.length;
  }
  return text;
}

/** Plain text in exactly `width` columns. */
export function cell(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
}

/** Plain text in lines of at most `width` columns, between words where it can. Libraries that know colours take far longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let start = 0;
  let used = 0;
  /** The last space of the line, and the columns up to it. */
  let space: { readonly at: number; readonly used: number } | undefined;
  const end = (at: number, next: number, left: number): void => {
    lines.push(text.slice(start, at));
    start = next;
    used = left;
    space = undefined;
  };
  for (const { text: character, at, width: columns } of charactersOf(text)) {
    if (used + columns > width && character === ' ') {
      end(at, at + 1, 0);
      continue;
    }
    if (used + columns > width && space !== undefined) end(space.at, space.at + 1, used - space.used);
    if (used + columns > width && at > start) end(at, at, 0);
    used += columns;
    if (character === ' ') space = { at, used };
  }
  return [...lines, text.slice(start)];
}

/** Text in one look. */
export interface Span {
  readonly text: string;
  readonly format?: Format | undefined;
}

/** Spans one after the other, cut at `columns`. Text is cut before it gets its colour. */
export function line(spans: readonly Span[], columns: number, style: Style): string {
  let left = columns;
  let plain = '';
  let shown = '';
  for (const [index, { text, format }] of spans.entries()) {
    const fitting = cut(index === spans.length - 1 ? text.trimEnd() : text, left);
    left -= widthOf(fitting);
    plain += fitting;
    shown += format === undefined || fitting.trim() === '' ? fitting : style(format, fitting);
  }
  return widthOf(plain) <= columns ? shown : squeezed(plain, columns);
}

/** For marks that are wider with what comes before or after them than they are alone. */
function squeezed(text: string, columns: number): string {
  for (let width = columns; width > 0; width -= 1) {
    const shown = cut(text, width);
    if (widthOf(shown) <= columns) return shown;
  }
  return '';
}

/** Two texts at the ends of a line; the right one stays whole as far as there is room. */
export function ends(left: Span, right: readonly Span[], columns: number, style: Style): string {
  const rightWidth = right.reduce((sum, { text }) => sum + widthOf(text), 0);
  const room = Math.max(0, columns - rightWidth - 1);
  const text = cell(left.text, room);
  return line([{ ...left, text: room === 0 ? text : `${text} ` }, ...right], columns, style);
}

/** `─ Agents ─ 3 of 6 work ─────`. */
export function rule(title: string, note: string, columns: number, style: Style): string {
  const name = cut(title, Math.max(0, columns - 3));
  const spans: Span[] = [
    { text: '─ ', format: 'dim' },
    { text: name, format: 'bold' },
    { text: note === '' ? ' ' : ` · ${note} ` },
  ];
  const used = spans.reduce((sum, { text }) => sum + widthOf(text), 0);
  return line([...spans, { text: '─'.repeat(Math.max(0, columns - used)), format: 'dim' }], columns, style);
}

/** A cell that begins further to the right leaves too little room below itself. */
const MOST_INDENT = 40;
const COMMAND = /^(?:[A-Z][a-z]+: )?`?(?:squad|git) (?!\d)/;
/** Between two cells of a line. */
const CELLS = / {2,}(?=\S)/g;

/** Lines for people in at most this many columns (undefined: any), without colour; a terminal itself would break them in mid-word. */
export function fold(text: string, columns: number | undefined): string {
  if (columns === undefined || columns === 0) return text;
  return text
    .split('\n')
    .flatMap((line) => (line.includes('\u001b') ? [line] : folded(line, columns)))
    .join('\n');
}

/** Wrapped between words below the cell that is too long. A command stays whole, and so does a long word, such as a path: people copy them. */
export function folded(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const indent = lastCellOf(text, Math.min(MOST_INDENT, columns / 2));
  const width = columns - indent;
  if (COMMAND.test(text.slice(indent))) return [text];
  const [first = '', ...rest] = wrapWords(text.slice(indent), width);
  return [text.slice(0, indent) + first, ...rest.map((part) => ' '.repeat(indent) + part)];
}

function wrapWords(text: string, width: number): string[] {
  const rows: string[] = [];
  let fitting: string[] = [];
  const end = (): void => {
    if (fitting.length > 0) rows.push(...wrap(fitting.join(' '), width));
    fitting = [];
  };
  for (const word of text.split(' ')) {
    if (widthOf(word) <= width) fitting.push(word);
    else {
      end();
      rows.push(word);
    }
  }
  end();
  return rows;
}

function lastCellOf(text: string, most: number): number {
  const starts = [...text.matchAll(CELLS)].map(({ index, 0: gap }) => index + gap.length);
  return starts.findLast((start) => start <= most && widthOf(text.slice(0, start)) === start) ?? 0;
}
