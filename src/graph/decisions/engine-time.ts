/** ms that engines have worked on a run, as its segments are on record: parked time left out. */
export function engineTime(segments: readonly { readonly workedMs: number }[]): number {
  return segments.reduce((sum, { workedMs }) => sum + workedMs, 0);
}
