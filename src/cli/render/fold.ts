import { widthOf, wrap } from './cells.ts';

/** A cell that begins further to the right leaves too little room below itself. */
const MOST_INDENT = 40;
const COMMAND = /^(?:[A-Z][a-z]+: )?`?squad /;
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

/** Wrapped between words below the cell that is too long. Commands and paths stay whole: people copy them. */
export function folded(text: string, columns: number): string[] {
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
