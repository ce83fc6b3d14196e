/** The runs of this process that wait for one of the turns that all runs of their repository share. */
export interface TurnLine {
  /** How many of them get a turn before this run: those with fewer turns at work, and of those with as many the ones that waited first. */
  before(runId: string, live: ReadonlyMap<string, number>): number;
  /** A run that waits already keeps its place. */
  join(runId: string): void;
  /** Safe to repeat. */
  leave(runId: string): void;
}

export function createTurnLine(): TurnLine {
  /** In the order in which they came. */
  const waiting = new Set<string>();
  return {
    before: (runId, live) => {
      const own = live.get(runId) ?? 0;
      const line = [...waiting];
      const place = waiting.has(runId) ? line.indexOf(runId) : line.length;
      return line.filter((other, index) => {
        const turns = live.get(other) ?? 0;
        return other !== runId && (turns < own || (turns === own && index < place));
      }).length;
    },
    join: (runId) => void waiting.add(runId),
    leave: (runId) => void waiting.delete(runId),
  };
}
