import { endsInVain, pauseAfter } from '../../rules/service/engine-pause.ts';
import type { Clock } from '../../substrate/ports/clock.ts';

/** The process that drives runs for the service, and exists only while one can move. */
export interface EngineChild {
  readonly pid: number | undefined;
  readonly ended: Promise<{ readonly code: number | null; readonly problem?: string }>;
}

/** As the exit code of a command says that runs have failed, and not the engine. */
const HIGHEST_OF_RUNS = 64;

/** Starts engines one after the other, more slowly while they end in vain. */
export function createServiceEngine(
  clock: Pick<Clock, 'now' | 'monotonic'>,
  {
    start,
    say,
    changed,
  }: {
    readonly start: () => EngineChild;
    readonly say: (text: string) => void;
    readonly changed: () => void;
  },
) {
  let child: EngineChild | undefined;
  let inVain = 0;
  /** Set until the ledger was looked at after the end of an engine. */
  let ended: { readonly failed: boolean; readonly livedMs: number } | undefined;
  let notBefore: number | undefined;
  let mark: number | undefined;
  return {
    runs: () => child !== undefined,
    notBefore: () => notBefore,
    start: (): void => {
      const begun = clock.monotonic();
      const started = start();
      child = started;
      say(`an engine works on the runs (process ${started.pid ?? 'unknown'})`);
      void started.ended.then(({ code, problem }) => {
        const failed = problem !== undefined || code === null || code > HIGHEST_OF_RUNS;
        child = undefined;
        ended = { failed, livedMs: clock.monotonic() - begun };
        say(failed ? `the engine ended: ${problem ?? `exit ${code ?? 'by a signal'}`}` : 'the engine has ended');
        changed();
      });
    },
    /** Takes in what the ledger says now: after an engine that has left things as they are, the next one waits. */
    seen: (now: number, seen: { readonly canMove: boolean; readonly mark: number }): void => {
      if (ended !== undefined) {
        inVain = endsInVain(inVain, { ...ended, leftThings: seen.canMove });
        notBefore = inVain === 0 ? undefined : now + pauseAfter(inVain);
        mark = ended.failed ? undefined : seen.mark;
        ended = undefined;
      } else if (mark !== undefined && mark !== seen.mark) {
        // Something is new, which the last engine did not see.
        notBefore = undefined;
        mark = seen.mark;
      } else if (notBefore !== undefined && notBefore > now + pauseAfter(inVain)) {
        // The clock was set back.
        notBefore = now + pauseAfter(inVain);
      }
    },
  };
}
