import type { Processes } from '../../src/substrate/ports/processes.ts';

interface Span {
  readonly from: number;
  readonly to: number;
}

export interface GitTimes {
  readonly processes: Processes;
  /** ms of a stretch of wall-clock time in which at least one git was under way, and how many were begun in it. */
  within(from: number, to: number): { readonly ms: number; readonly calls: number };
}

/** Times every git that the engine calls, from its start to its answer. */
export function timeGit(processes: Processes): GitTimes {
  const spans: Span[] = [];
  return {
    processes: {
      ...processes,
      run: async (command, args, options) => {
        const from = now();
        try {
          return await processes.run(command, args, options);
        } finally {
          spans.push({ from, to: now() });
        }
      },
    },
    within: (from, to) => {
      const own = spans.filter((span) => span.to > from && span.from < to).toSorted((one, two) => one.from - two.from);
      let ms = 0;
      let reached = from;
      for (const span of own) {
        const end = Math.min(span.to, to);
        ms += Math.max(0, end - Math.max(span.from, reached));
        reached = Math.max(reached, end);
      }
      return { ms, calls: own.length };
    },
  };
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
