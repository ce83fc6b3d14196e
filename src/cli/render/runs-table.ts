import { costText } from '../../model/amount.ts';
import type { RunState } from '../../model/run-state.ts';
import type { RunSummary } from '../../view/run-summary.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ageOf, localTime } from '../../text/time.ts';
import type { Style } from './style.ts';
import { columnWidths, renderTable, tableWidth } from './table.ts';

/** Columns of an outcome below which others go. */
const LEAST_OUTCOME = 24;

const COLOUR = {
  queued: 'cyan',
  preparing: 'cyan',
  running: 'cyan',
  done: 'green',
  failed: 'red',
  cancelled: 'yellow',
  waiting: 'yellow',
  stopped: 'yellow',
  interrupted: 'yellow',
} as const satisfies Record<RunState, Parameters<Style>[0]>;

/** One line for each run. `columns`: width of the terminal, if it is one. */
export function renderRuns(
  runs: readonly RunSummary[],
  { now, columns, style }: { now: number; columns: number | undefined; style: Style },
): string[] {
  if (runs.length === 0) return ['There is no run here yet. Start one: squad run objective.md'];
  const hasStages = runs.some(({ stage }) => stage !== null);
  const all: readonly Column[] = [
    { title: 'run', cell: ({ name }) => name },
    { title: 'state', cell: ({ state }) => style(COLOUR[state], state) },
    { title: 'started', cell: ({ createdAt }) => ageOf(now - createdAt) },
    { title: 'took', cell: ({ elapsedMs }) => ageOf(elapsedMs) },
    { title: 'cost', cell: ({ usage }) => (usage.costUsd === null ? 'unknown' : costText(usage)) },
    { title: 'tasks', cell: ({ tasks }) => `${tasks.done}/${tasks.all}` },
    ...(hasStages ? [{ title: 'stage', cell: stageText }] : []),
    { title: 'outcome', cell: (run) => plainLine(outcomeOf(run, now), 300) },
  ];
  const shown = fitting(all, runs, columns);
  const rows = runs.map((run) => shown.map(({ cell }) => cell(run)));
  return renderTable({ head: shown.map(({ title }) => style('dim', title)), rows, columns, cut: 'last' });
}

interface Column {
  readonly title: string;
  readonly cell: (run: RunSummary) => string;
}

/** On a narrow terminal, the columns that people miss least go: a name or a cost that is cut is of no use. */
function fitting(all: readonly Column[], runs: readonly RunSummary[], columns: number | undefined): readonly Column[] {
  if (columns === undefined) return all;
  const dropped = ['took', 'started', 'stage', 'tasks'];
  const sets = dropped.map((_, count) => all.filter(({ title }) => !dropped.slice(0, count).includes(title)));
  const fits = (set: readonly Column[]): boolean => {
    const widths = columnWidths([
      set.map(({ title }) => title),
      ...runs.map((run) => set.map(({ cell }) => cell(run))),
    ]);
    return tableWidth([...widths.slice(0, -1), Math.min(widths.at(-1) ?? 0, LEAST_OUTCOME)]) <= columns;
  };
  return sets.find(fits) ?? all.filter(({ title }) => !dropped.includes(title));
}

function stageText({ stage }: RunSummary): string {
  return stage === null ? '' : `${plainLine(stage.id, 40)} ${stage.place}/${stage.of}`;
}

/** The result, or why the run does not continue, or its objective. */
function outcomeOf({ parent, ...run }: RunSummary, now: number): string {
  const result = `${resultOf(run)}${deadlineText(run, now)}`;
  return parent === null ? result : `fork of ${parent.name}: ${result}`;
}

/** Empty for a finished run. A run that stopped at its deadline says so in its own text. */
function deadlineText({ headline, deadline, need }: Omit<RunSummary, 'parent'>, now: number): string {
  if (headline !== null || deadline === null) return '';
  if (now < deadline) return ` (deadline ${localTime(deadline, now)})`;
  return need === 'driven' ? ' (deadline passed)' : '';
}

function resultOf({ headline, need, why, objective }: Omit<RunSummary, 'parent'>): string {
  if (headline !== null) return headline.replace(/^(?:DONE|FAILED), /, '');
  return need === 'driven' || why === null ? objective : why;
}
