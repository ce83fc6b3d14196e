import { taskScope, WHOLE_RUN } from '../../model/plan/intervention.ts';
import type { CancelOptions, CommandContext } from '../command-context.ts';
import { openRun } from '../open-run.ts';
import { intervene } from './intervene.ts';

/** Cancels a run or task. Without a running engine, this process ends the run and writes its report. Exit 0 then. */
export async function cancel(context: CommandContext, run: string | undefined, options: CancelOptions): Promise<void> {
  const { reading } = await openRun(context, run);
  const { reason: why = '', task } = options;
  const on = task === undefined ? WHOLE_RUN : taskScope(task);
  await intervene(context, reading.row.id, { verb: 'cancel', on, why }, options);
  if (on !== WHOLE_RUN || reading.driven) return;
  await (await import('./run.ts')).resume(context, reading.row.id, options);
  context.exit(0);
}
