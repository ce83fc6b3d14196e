import { errorText } from '../model/errors.ts';
import type { Output } from './output.ts';

/** After one Ctrl-C, running turns may finish within this time. */
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
 * The first Ctrl-C starts nothing new and gives running turns 60 s, with a countdown. The second interrupts them, the third
 * kills them. SIGTERM and SIGHUP interrupt at once. `signal()` is the first signal. `countDown`: shows a text that the next replaces.
 */
export function handleInterrupts(
  output: Pick<Output, 'problem'>,
  work: Interruptible,
  { name = 'the turn', countDown }: { name?: string; countDown?: ((text: string) => void) | undefined } = {},
): Interrupts {
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
      output.problem(
        `Waiting up to ${GRACE_SECONDS} s for ${name === 'the run' ? 'its turns' : name} to finish. Press Ctrl-C again to interrupt now.`,
      );
      countdown = startCountdown(countDown, () => cancel('Ctrl-C, and 60 s have passed'));
    }
    if (presses === 2) {
      output.problem('Interrupting now. Press Ctrl-C again to kill.');
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
      // A late Ctrl-C must not kill squad while it prints the result.
      if (by !== undefined) for (const signal of SIGNALS) process.on(signal, () => undefined);
    },
  };
}

function startCountdown(countDown: ((text: string) => void) | undefined, over: () => void): NodeJS.Timeout {
  let left = GRACE_SECONDS;
  return setInterval(() => {
    left -= 1;
    countDown?.(`${left} s left`);
    if (left <= 0) over();
  }, 1000);
}
