const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  readonly aborted: AbortSignal;
  /** The exit code of the signal; 0: none came. */
  exitCode(): number;
  stop(): void;
}

/** Turns Ctrl-C and the like into an abort, for commands that only wait. */
export function listenForStop(): StopSignal {
  const controller = new AbortController();
  let by: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    by ??= signal;
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return {
    aborted: controller.signal,
    exitCode: () => (by === undefined ? 0 : by === 'SIGINT' ? 130 : 143),
    stop: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}
