import { usageError } from '../../model/errors.ts';
import { statisticsOf } from '../../view/report/statistics.ts';
import { listFigures } from '../../squad/runs.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';
import { renderStatistics } from '../render/statistics-table.ts';

/** Does `squad report --all`. Throws `usage` if a run is named too. */
export async function statistics(
  { host, output }: CommandContext,
  run: string | undefined,
  options: Options<'report'>,
): Promise<void> {
  if (run !== undefined) {
    throw usageError(
      'squad report takes a run or --all, not both',
      `Give one: \`squad report --all\`, or the run alone.`,
    );
  }
  if (options.html === true) {
    throw usageError('there is no page over all runs', 'Leave out --html: `squad report --all`.');
  }
  const found = statisticsOf(await listFigures({ host }));
  printResult(output, options, found, renderStatistics(found, { columns: output.columns(), style: output.style }));
}
