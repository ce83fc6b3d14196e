import type { ForkPoint } from '../../view/fork-plan.ts';
import { plainLine } from '../../text/plain-text.ts';
import { clockTime } from '../../text/time.ts';
import type { Output } from '../output.ts';
import { renderTable } from './table.ts';

/** A table of the moments that a fork of this run can begin at, and the command for the newest. */
export function renderForkPoints(
  { name, points }: { readonly name: string; readonly points: readonly ForkPoint[] },
  { style, columns }: Pick<Output, 'style' | 'columns'>,
): string[] {
  const last = points.at(-1);
  if (last === undefined) return [`${name} has decided nothing yet.`];
  const rows = points.map(({ seq, at, what, tasks: { all, done } }) => [
    String(seq),
    clockTime(at),
    `${done}/${all}`,
    plainLine(what, 300),
  ]);
  const head = ['seq', 'time', 'tasks', 'what had just happened'].map((title) => style('dim', title));
  return [
    ...renderTable({ head, rows, columns: columns() }),
    `Begin at one of them: \`squad fork ${name} --at ${last.seq}\`. Any other event of \`squad log ${name} --raw\` will do, too.`,
  ];
}
