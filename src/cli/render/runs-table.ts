import { costText } from '../../model/amount.ts';
import type { RunState } from '../../model/run-state.ts';
import type { RunSummary } from '../../view/run-summary.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ageOf, localTime } from '../../text/time.ts';
import type { Style } from './style.ts';
import { renderTable } from './table.ts';

const COLOUR = {
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
  const rows = runs.map((run) => [
    run.name,
    style(COLOUR[run.state], run.state),
    ageOf(now - run.createdAt),
    ageOf(run.elapsedMs),
    run.usage.costUsd === null ? 'unknown' : costText(run.usage),
    `${run.tasks.done}/${run.tasks.all}`,
    ...(hasStages
      ? [run.stage === null ? '' : `${plainLine(run.stage.id, 40)} ${run.stage.place}/${run.stage.of}`]
      : []),
    plainLine(outcomeOf(run, now), 300),
  ]);
  const head = ['run', 'state', 'started', 'took', 'cost', 'tasks', ...(hasStages ? ['stage'] : []), 'outcome'];
  return renderTable({ head: head.map((name) => style('dim', name)), rows, columns });
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
