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
