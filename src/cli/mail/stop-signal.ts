const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  readonly aborted: AbortSignal;
  /** The exit code that says so; 0 where nobody interrupted. */
  exitCode(): number;
  stop(): void;
}

/** Ctrl-C and the like as an abort, for commands that wait: there is nothing to bring to an end before. */
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
