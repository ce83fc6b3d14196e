export interface Segment {
  readonly epoch: number;
  readonly acquiredAt: number;
  readonly seenAt: number;
  readonly releasedAt: number | null;
  /** When it was parked; `ms` of all times but the last, whose end may lie after the segment's. null: never. */
  readonly parked: { readonly ms: number; readonly from: number; readonly to: number | null } | null;
}

/** ms that engines have driven the run, parked time left out. `epoch`: the one that drives it now. */
export function engineTime(segments: readonly Segment[], epoch: number | null, now: number): number {
  return segments.reduce((sum, segment) => {
    const end = segment.releasedAt ?? (segment.epoch === epoch ? Math.max(now, segment.seenAt) : segment.seenAt);
    return sum + Math.max(0, end - segment.acquiredAt - parkedTime(segment, end));
  }, 0);
}

function parkedTime({ parked }: Segment, end: number): number {
  if (parked === null) return 0;
  return parked.ms + Math.max(0, Math.min(parked.to ?? end, end) - parked.from);
}
