import { moneyText } from '../../model/amount.ts';
import { hasEnded } from '../../model/run-state.ts';
import { counted } from '../../text/counted.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ENOUGH_RUNS, type Cell, type ComparedRun, type Comparison, type Side } from '../../view/comparison.ts';
import type { Measures } from '../../view/measured-run.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const NOT_MEASURED = 'not measured';

const MEASURES: Readonly<Record<keyof Measures, { title: string; text?: (amount: number) => string }>> = {
  firstTry: { title: 'merged at the first try' },
  rounds: { title: 'rounds of review' },
  failedChecks: { title: 'failed checks' },
  held: { title: 'blocking findings, then fixed' },
  withdrawn: { title: 'blocking findings, withdrawn' },
  conflicts: { title: 'conflicts' },
  tokens: { title: 'tokens', text: (amount) => String(Math.round(amount)) },
  costUsd: { title: 'cost', text: moneyText },
  minutes: { title: 'minutes', text: (amount) => amount.toFixed(1) },
  criteria: { title: 'criteria met' },
};

/** A measure a row and a side a column, then each run with its branch. `columns`: width of the terminal, if it is one. */
export function renderComparison(
  comparison: Comparison,
  { columns, style }: { readonly columns: number | undefined; readonly style: Style },
): string[] {
  const { sides, runs, rows, stopped } = comparison;
  const why = stopped === null ? [] : [`Not all runs were made: ${plainLine(stopped, 400)}.`];
  if (runs.length === 0) return ['No run was made, so there is nothing to compare.', ...why];
  const titleOf = (side: Side): string => style('bold', `${side}: ${plainLine(sides[side].prompts, 60)}`);
  const table = [
    ['runs that ended as', endsOf(runs, 'A'), endsOf(runs, 'B')],
    ...rows.map(({ measure, A, B, apart }) => [
      `${MEASURES[measure].title}${apart === true ? ' *' : ''}`,
      cellText(measure, A),
      cellText(measure, B),
    ]),
  ];
  return [
    ...renderTable({ head: ['', titleOf('A'), titleOf('B')], rows: table, columns }),
    '',
    ...noteOf(comparison),
    ...why,
    '',
    ...renderTable({ rows: runs.map((run) => runRow(run)), columns }),
    'Nothing is merged. `squad diff RUN` shows what a run did, `squad merge RUN` takes it, `squad drop RUN` removes it.',
  ];
}

function endsOf(runs: readonly ComparedRun[], side: Side): string {
  const states = Map.groupBy(
    runs.filter((run) => run.side === side),
    ({ state }) => state,
  );
  return [...states].map(([state, own]) => `${own.length} ${state}`).join(', ') || 'no run';
}

/** A share as a sum over the runs, an amount as their mean with the least and the most. */
function cellText(measure: keyof Measures, { runs, unknown, share, mean, least = 0, most = 0 }: Cell): string {
  const { text = numberText } = MEASURES[measure];
  if (runs === 0) return NOT_MEASURED;
  const missing = unknown === 0 ? '' : `, ${NOT_MEASURED} in ${counted(unknown, 'run')}`;
  if (share !== undefined) return `${share.of === 0 ? 'none blocked' : `${share.part} of ${share.of}`}${missing}`;
  if (mean === undefined) return NOT_MEASURED;
  return `${text(mean)}${runs === 1 ? '' : ` (${text(least)} to ${text(most)})`}${missing}`;
}

function numberText(amount: number): string {
  return Number.isInteger(amount) ? String(amount) : amount.toFixed(2);
}

function noteOf({ runs, rows, enough, base, plan }: Comparison): string[] {
  const over = (side: Side): number => runs.filter((run) => run.side === side && hasEnded(run.state)).length;
  const from = `All began from ${(base ?? '').slice(0, 12)}${plan === null ? '' : ` with the plan of ${plan.name} (${counted(plan.tasks, 'task')})`}.`;
  const counts = `${over('A')} of A and ${over('B')} of B are over, and counted.`;
  if (!enough) {
    return [`${from} ${counts}`, `That is too few to call one better: take ${ENOUGH_RUNS} of each or more (--times).`];
  }
  const apart = rows.some((row) => row.apart === true)
    ? '* each run of one side is above each run of the other'
    : 'In no row is each run of one side above each run of the other: the difference may be chance';
  return [`${from} ${counts}`, `${apart}.`];
}

function runRow({ side, name, state, branch, headline }: ComparedRun): string[] {
  return [side, name, branch ?? 'no branch', plainLine(headline ?? state, 160)];
}
