export interface Segment {
  readonly epoch: number;
  readonly acquiredAt: number;
  readonly seenAt: number;
  readonly releasedAt: number | null;
}

/** ms that engines have driven the run, parked time left out. `epoch`: the one that drives it now. */
export function engineTime(segments: readonly Segment[], epoch: number | null, now: number): number {
  return segments.reduce((sum, segment) => {
    const end = segment.releasedAt ?? (segment.epoch === epoch ? Math.max(now, segment.seenAt) : segment.seenAt);
    return sum + Math.max(0, end - segment.acquiredAt);
  }, 0);
}
