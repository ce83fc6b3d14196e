import { widthOf, wrap } from './cells.ts';
import type { Output } from '../output.ts';
import { withLink } from './links.ts';
import type { Style } from './style.ts';

type Format = Parameters<Style>[0];

export type Screen = Pick<Output, 'columns' | 'style' | 'links'>;

/** Its first match in a line gets this colour. */
export type Colour = readonly [pattern: RegExp, format: Format];

/** A cell that begins further to the right leaves too little room below itself. */
const MOST_INDENT = 40;
const COMMAND = /^(?:[A-Z][a-z]+: )?`?squad /;
/** Between two cells of a line. */
const CELLS = / {2,}(?=\S)/g;

/** Plain lines, in their colours, wrapped between words below the cell that is too long. Commands and paths stay whole: people copy them. */
export function onScreen(
  all: readonly string[],
  { columns, style, links }: Screen,
  colours: readonly Colour[],
): string {
  const width = columns();
  const shown = width === undefined ? all : all.flatMap((text) => folded(text, width));
  const lines = shown.map((text) => coloured(text, style, colours));
  return (links === true ? lines.map(withLink) : lines).join('\n');
}

/** Lines for people in at most this many columns (undefined: any), without colour; a terminal itself would break them in mid-word. */
export function fold(text: string, columns: number | undefined): string {
  if (columns === undefined || columns === 0) return text;
  return text
    .split('\n')
    .flatMap((line) => (line.includes('\u001b') ? [line] : folded(line, columns)))
    .join('\n');
}

function folded(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const indent = lastCellOf(text, Math.min(MOST_INDENT, columns / 2));
  const width = columns - indent;
  const isCopied = COMMAND.test(text.slice(indent)) || text.split(' ').some((word) => widthOf(word) > width);
  if (isCopied) return [text];
  const [first = '', ...rest] = wrap(text.slice(indent), width);
  return [text.slice(0, indent) + first, ...rest.map((part) => ' '.repeat(indent) + part)];
}

function lastCellOf(text: string, most: number): number {
  const starts = [...text.matchAll(CELLS)].map(({ index, 0: gap }) => index + gap.length);
  return starts.findLast((start) => start <= most && widthOf(text.slice(0, start)) === start) ?? 0;
}

function coloured(text: string, style: Style, colours: readonly Colour[]): string {
  for (const [pattern, format] of colours) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const end = found.index + found[0].length;
    return `${text.slice(0, found.index)}${style(format, found[0])}${text.slice(end)}`;
  }
  return text;
}
