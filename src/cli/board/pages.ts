import { widthOf } from '../render/cells.ts';

interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/** Below the lines of a page: the question, which may take two. */
const LEFT = 3;

/** Plain lines in pages of one screen each. Nothing is cut: a line that is too long continues on the next, and on the next page. */
export function pagesOf(lines: readonly string[], { columns, rows }: Screen): string[][] {
  const shown = lines.flatMap((line) => wrapWhole(line, Math.max(columns, 20)));
  const size = Math.max(rows - LEFT, 3);
  const count = Math.max(Math.ceil(shown.length / size), 1);
  return Array.from({ length: count }, (_, index) => shown.slice(index * size, (index + 1) * size));
}

/** Continues a line that is longer than the screen. */
const MORE = '      ';

/** A plain line in lines of at most `columns`, each character in one of them. Breaks anywhere: a blank at a break would be lost. */
function wrapWhole(text: string, columns: number): string[] {
  if (widthOf(text) <= columns) return [text];
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const character of text) {
    const width = widthOf(character);
    if (used + width > columns && used > 0) {
      lines.push(line);
      line = MORE;
      used = MORE.length;
    }
    line += character;
    used += width;
  }
  return [...lines, line];
}
