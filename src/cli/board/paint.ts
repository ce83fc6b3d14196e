import stringWidth from 'string-width';
import type { Size } from '../output.ts';

/** A terminal that knows this shows all of a write at once; others ignore it. */
const HOLD = '\u001b[?2026h';
const SHOW = '\u001b[?2026l';
/** A row that a terminal finds wider than squad does is cut there. */
const CUT = '\u001b[?7l';
const WRAP = '\u001b[?7h';
const CLEAR_RIGHT = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Another screen than that of the shell, which has no history that a change of size could leave pieces in. */
export const ENTER = '\u001b[?1049h\u001b[?25l';
/** It is left empty: tmux keeps rows of one whose size has changed. */
export const LEAVE = '\u001b[H\u001b[J\u001b[?1049l\u001b[?25h';

/**
 * Returns the text that turns the `shown` rows (undefined: unknown) into `rows`; empty: nothing has changed. Each row is written
 * over the old one, so that a half-drawn screen has no gaps.
 */
export function paint(
  shown: readonly string[] | undefined,
  rows: readonly string[],
  { columns, ...size }: Size,
): string {
  const changed = rows.flatMap((row, index) => (shown?.[index] === row ? [] : [rowText(row, index, columns)]));
  const isShorter = shown === undefined || rows.length < shown.length;
  // Below the last row of the terminal there is nothing, and it would be that row.
  if (isShorter && rows.length < size.rows) changed.push(`${moveTo(rows.length)}${CLEAR_BELOW}`);
  if (changed.length === 0) return '';
  return `${HOLD}${CUT}${changed.join('')}${WRAP}${SHOW}`;
}

/** Behind a full row the cursor stands on its last character, which must stay. */
function rowText(row: string, index: number, columns: number): string {
  return `${moveTo(index)}${row}${stringWidth(row) < columns ? CLEAR_RIGHT : ''}`;
}

function moveTo(index: number): string {
  return `\u001b[${index + 1};1H`;
}
