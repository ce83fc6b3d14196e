import cliTruncate from 'cli-truncate';
import { widthOf } from './cells.ts';

/** Columns between two cells. */
const GAP = 2;

export interface Table {
  readonly head?: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Width of the terminal; absent: nothing is cut. */
  readonly columns?: number | undefined;
  /** Which column is cut first; absent: the widest one. */
  readonly cut?: 'last';
}

/**
 * Lines with their cells below each other, however wide a character is. Cells are one line each and may hold colour; text of
 * others has to be plain (`plainLine`) before it comes here.
 */
export function renderTable({ head, rows, columns, cut }: Table): string[] {
  const all = head === undefined ? rows : [head, ...rows];
  const widths = fit(columnWidths(all), columns, cut);
  return all.map((row) =>
    row
      .map((cell, index) => pad(cell, widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

/** The width of the widest cell of each column. */
export function columnWidths(rows: Table['rows']): number[] {
  const count = rows.reduce((most, row) => Math.max(most, row.length), 0);
  return Array.from({ length: count }, (_, index) =>
    rows.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? '')), 0),
  );
}

/** The width of a table with these columns. */
export function tableWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP, -GAP);
}

function fit(widths: readonly number[], columns = Infinity, cut: Table['cut']): number[] {
  const fitted = [...widths];
  const over = () => tableWidth(fitted) - columns;
  const last = fitted.at(-1);
  if (cut === 'last' && last !== undefined) fitted[fitted.length - 1] = Math.max(1, last - Math.max(0, over()));
  while (over() > 0) {
    const widest = Math.max(...fitted);
    if (widest <= 1) break;
    const next = Math.max(1, ...fitted.filter((width) => width < widest));
    const index = fitted.indexOf(widest);
    fitted[index] = Math.max(next, widest - over());
    if (fitted[index] === widest) fitted[index] = widest - 1;
  }
  return fitted;
}

function pad(cell: string, width: number): string {
  const cut = cliTruncate(cell, width);
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)));
}
