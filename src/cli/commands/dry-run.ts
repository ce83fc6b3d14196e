import { usageError } from '../../model/errors.ts';
import { dryRun } from '../../squad/dry-run.ts';
import { estimateFor } from '../../squad/estimate.ts';
import { dryRunLines } from '../ask/dry-run-lines.ts';
import type { CommandContext, RunOptions } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { givenSource } from '../given-source.ts';
import { printResult } from '../output.ts';

/** Shows what `squad run` would do with the same arguments, after the same checks. Writes nothing. */
export async function showDryRun(
  context: CommandContext,
  given: string | undefined,
  options: RunOptions,
): Promise<void> {
  const { host, output } = context;
  refuseOthers(options);
  const objective = await givenSource(context, given, options);
  const { yes, json } = options;
  const trust = yes === true ? ('yes' as const) : undefined;
  // As a run at this terminal is, whose plan a person is asked about.
  const attended = json !== true && process.stdin.isTTY && process.stderr.isTTY;
  const about = { ...newRunOf(context, options), trust, attended };
  const { planned, definition } = await dryRun({ host }, objective, about);
  const estimate = json === true ? null : await estimateFor({ host }, definition);
  const { limits } = definition;
  const { style } = output;
  const lines = dryRunLines(planned, { definition, limits, estimate, columns: output.columns(), style });
  printResult(output, options, { type: 'dry-run', ...planned }, lines);
}

function refuseOthers({ detach, resume, runId, ticket }: RunOptions): void {
  const given =
    detach === true
      ? '--detach'
      : resume === true
        ? '--resume'
        : (runId ?? ticket) === undefined
          ? undefined
          : '--run-id';
  if (given === undefined) return;
  throw usageError(`--dry-run starts nothing, so it cannot be combined with ${given}`, 'Leave out one of them.');
}
