import { exitCodeOf } from '../../model/run-state.ts';
import { createSystemClock } from '../../substrate/system/clock/system-clock.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { CommandContext } from '../command-context.ts';
import { handleInterrupts } from '../interrupts.ts';
import type { createHost, End } from './host-runs.ts';

/** Between two looks for runs that can move. */
const LOOK_MS = 1000;

type Host = ReturnType<typeof createHost>;

/** Between two looks: `work` was done, nothing is `left` to host, or there may be something `later`. */
type Next = 'work' | 'left' | 'later';

/**
 * Hosts what can move until nothing is left, or a signal has ended all. `between` is called before each look. Returns the exit code: 1 if
 * a run failed or could not be resumed, 130 or 143 after a signal, else 0.
 */
export async function hostUntil(
  context: CommandContext,
  host: Host,
  {
    first,
    between,
  }: { readonly first?: (clock: Clock, ending: AbortSignal) => Promise<void>; readonly between: () => Promise<Next> },
): Promise<number> {
  const ending = new AbortController();
  const cut = async (act: End): Promise<void> => {
    ending.abort();
    return host.end(act);
  };
  const interrupts = handleInterrupts(
    context.output,
    {
      drain: () => void cut((run) => run.drain('Ctrl-C')),
      cancel: async (reason) => cut(async (run) => run.cancel(reason)),
      kill: async () => host.end(async (run) => run.kill()),
    },
    { name: 'the runs' },
  );
  const clock = createSystemClock();
  try {
    await first?.(clock, ending.signal);
    while (!ending.signal.aborted) {
      const next = await between();
      if (next === 'work' || (await host.look())) continue;
      if (host.isIdle()) {
        if (next === 'left') break;
        await clock.sleep(LOOK_MS, ending.signal);
      } else await Promise.race([clock.sleep(LOOK_MS, ending.signal), host.oneEnded()]);
    }
    await host.allEnded();
  } finally {
    interrupts.stop();
  }
  const hasFailed = host.ended.some(({ exitCode }) => exitCode !== null && (exitCode === 1 || exitCode >= 65));
  const signal = interrupts.signal();
  return exitCodeOf(hasFailed ? 'failed' : signal === undefined ? 'done' : 'interrupted', signal);
}
