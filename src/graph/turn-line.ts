/**
 * The runs of this process that wait for one of the turns that all runs of their repository share, in the order in which they came. Plain
 * data, because most processes never use it.
 */
export type TurnLine = Set<string>;

/** How many of them get a turn before this run: those with fewer turns at work, and of those with as many the ones that waited first. */
export function runsBefore(line: TurnLine, runId: string, live: ReadonlyMap<string, number>): number {
  const own = live.get(runId) ?? 0;
  const waiting = [...line];
  const place = line.has(runId) ? waiting.indexOf(runId) : waiting.length;
  return waiting.filter((other, index) => {
    const turns = live.get(other) ?? 0;
    return other !== runId && (turns < own || (turns === own && index < place));
  }).length;
}
