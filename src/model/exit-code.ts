import type { RunOutcome } from './run.ts';

/** The exit codes of a run are API: ARCHITECTURE.md, docs/errors.md. */
export function exitCodeOf(outcome: RunOutcome, signal?: NodeJS.Signals): number {
  switch (outcome) {
    case 'done':
      return 0;
    case 'failed':
      return 1;
    case 'waiting':
      return 3;
    case 'stopped':
      return 4;
    case 'interrupted':
      return signal === undefined ? 4 : signal === 'SIGINT' ? 130 : 143;
  }
}
