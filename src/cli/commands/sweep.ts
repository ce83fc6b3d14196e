import type { Clock } from '../../substrate/ports/clock.ts';
import { otherDriver } from '../../substrate/ledger/workspace-lock.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { recordServe } from '../../squad/serve-settings.ts';
import type { CommandContext, ResumeOptions } from '../command-context.ts';
import type { Output } from '../output.ts';
import { createHost, type Ended } from './host-runs.ts';
import { hostUntil } from './host-until.ts';

const FREE_WITHIN_MS = 20_000;
const FREE_LOOK_MS = 50;

/**
 * Resumes all runs here that need an engine and starts those of the queue, until none can move.
 * Exit 1 if a run failed or could not be resumed, 0 if there was nothing to do, 130 or 143 after a signal.
 */
export async function sweep(context: CommandContext, options: ResumeOptions): Promise<void> {
  const { output } = context;
  // The files may allow more today than when the runs began to wait.
  const problem = await recordServe(await openWorkspace(context));
  if (problem !== undefined) output.problem(problem);
  const host = createHost(context, {
    options,
    besides: 0,
    counts: ({ submitted }) => submitted || options.takeOver !== true,
  });
  const code = await hostUntil(context, host, {
    first: async (clock, ending) => (options.takeOver === true ? untilFree(context, clock, ending) : undefined),
    between: () => Promise.resolve('left'),
  });
  sayEnd(output, options, host.ended);
  context.exit(code);
}

/** The engine that started this one ends at once. */
async function untilFree(context: CommandContext, clock: Clock, ending: AbortSignal): Promise<void> {
  const { directory } = await openWorkspace(context);
  const until = clock.monotonic() + FREE_WITHIN_MS;
  while (otherDriver(directory) !== undefined && clock.monotonic() < until) await clock.sleep(FREE_LOOK_MS, ending);
}

function sayEnd(output: Output, { json }: ResumeOptions, ended: readonly Ended[]): void {
  if (json === true) {
    const runs = ended.filter(({ exitCode }) => exitCode !== null);
    return output.json({ type: 'sweep-ended', at: Date.now(), runs });
  }
  if (ended.length > 0) return;
  output.line('No run needs an engine: each is over, running, waiting or paused.');
}
