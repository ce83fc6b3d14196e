import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Style } from '../render/style.ts';

type Format = Parameters<Style>[0];

/** Characters that are one column each. */
const NARROW = /^[\u0020-\u007e·…─●○◐✓✗–→‖■≥]*$/u;

/** Columns that plain text takes. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth(text);
}

/** Plain text in at most `width` columns. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (!NARROW.test(text)) return cliTruncate(text, width);
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

/** Plain text in exactly `width` columns. */
export function cell(text: string, width: number): string {
  const shown = cut(text, width);
  return shown + ' '.repeat(Math.max(0, width - widthOf(shown)));
}

/** Plain text in lines of at most `width` columns, between words where it can. */
export function wrap(text: string, width: number): string[] {
  return wrapAnsi(text, width, { hard: true }).split('\n');
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
