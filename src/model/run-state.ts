/** Every state of a run. `queued`: no engine has had it yet. The last six are also how a segment of it ends. `cancelled`: a person ended it. */
export const RUN_STATES = [
  'queued',
  'preparing',
  'running',
  'done',
  'failed',
  'cancelled',
  'waiting',
  'stopped',
  'interrupted',
] as const;
export type RunState = (typeof RUN_STATES)[number];

/** How a run, or this segment of it, ended. */
export const RUN_OUTCOMES = [
  'done',
  'failed',
  'cancelled',
  'waiting',
  'stopped',
  'interrupted',
] as const satisfies readonly RunState[];
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** The states as `squad status --json` groups them. `waiting`: for a person or a moment, with or without an engine. */
export const RUN_PHASES = ['queued', 'preparing', 'running', 'waiting', 'stopped', 'finished'] as const;

/** How a run ends for good. */
export const RUN_ENDS = ['done', 'failed', 'cancelled'] as const satisfies readonly RunOutcome[];
export type RunEndedAs = (typeof RUN_ENDS)[number];

export function hasEnded(state: RunState): state is RunEndedAs {
  return (RUN_ENDS as readonly RunState[]).includes(state);
}

export function phaseOf(state: RunState): (typeof RUN_PHASES)[number] {
  if (hasEnded(state)) return 'finished';
  return state === 'interrupted' ? 'stopped' : state;
}

/** The exit codes of a run are API: docs/errors.md. */
export function exitCodeOf(outcome: RunOutcome, signal?: NodeJS.Signals): number {
  switch (outcome) {
    case 'done':
      return 0;
    case 'failed':
    case 'cancelled':
      return 1;
    case 'waiting':
      return 3;
    case 'stopped':
      return 4;
    case 'interrupted':
      return signal === undefined ? 4 : signal === 'SIGINT' ? 130 : 143;
  }
}

export function stateText(state: RunState): string {
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}`;
}
