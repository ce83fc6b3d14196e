import { errorText } from '../model/errors.ts';
import type { Output } from './output.ts';

/** Ctrl-C once: the turn may finish, for at most this long. */
const GRACE_SECONDS = 60;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interruptible {
  /** Start nothing new. */
  drain(): void;
  /** Interrupt now: the cancel ladder, at most 10 s. */
  cancel(reason: string): Promise<void>;
  /** Kill now, at most 1 s. */
  kill(): Promise<void>;
}

export interface Interrupts {
  signal(): NodeJS.Signals | undefined;
  stop(): void;
}

/**
 * Ctrl-C once: nothing new starts, the turn has 60 s, with a countdown; twice: it is interrupted now; thrice: everything
 * of it is killed. SIGTERM and SIGHUP interrupt at once. `signal()` tells what ended it.
 */
export function handleInterrupts(output: Output, work: Interruptible, name = 'the turn'): Interrupts {
  let presses = 0;
  let by: NodeJS.Signals | undefined;
  let countdown: NodeJS.Timeout | undefined;
  const attempt = (action: Promise<void>): void => {
    clearInterval(countdown);
    action.catch((error: unknown) => output.problem(`could not end ${name}: ${errorText(error)}`));
  };
  const cancel = (reason: string): void => attempt(work.cancel(reason));
  const onInterrupt = (): void => {
    by ??= 'SIGINT';
    presses += 1;
    if (presses === 1) {
      work.drain();
      countdown = startCountdown(output, name, () => cancel('Ctrl-C, and the grace was over'));
    }
    if (presses === 2) {
      output.problem('Interrupting the agent now. Once more kills it.');
      cancel('Ctrl-C twice');
    }
    if (presses >= 3) attempt(work.kill());
  };
  const onTerminate = (signal: NodeJS.Signals): void => {
    by ??= signal;
    cancel(`squad got ${signal}`);
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onTerminate);
  process.on('SIGHUP', onTerminate);
  return {
    signal: () => by,
    stop: () => {
      clearInterval(countdown);
      process.off('SIGINT', onInterrupt);
      process.off('SIGTERM', onTerminate);
      process.off('SIGHUP', onTerminate);
      // A press that comes late must not kill squad while it says how it ended.
      if (by !== undefined) for (const signal of SIGNALS) process.on(signal, () => undefined);
    },
  };
}

function startCountdown(output: Output, name: string, over: () => void): NodeJS.Timeout {
  let left = GRACE_SECONDS;
  output.problem(`Waiting up to ${GRACE_SECONDS} s for ${name} to end. Ctrl-C again interrupts it now.`);
  const timer = setInterval(() => {
    left -= 1;
    output.status?.(`${left} s left`);
    if (left <= 0) over();
  }, 1000);
  return timer;
}
