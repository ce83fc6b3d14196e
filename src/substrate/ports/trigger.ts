/** One stretch of work at a run of a pool. */
export interface Segment {
  readonly run: string;
  /** Larger first. */
  readonly priority: number;
  /** Only a worker that has all of these gets it. */
  readonly labels: readonly string[];
}

/** A segment that one worker has, until it releases it or did not renew it for 10 s. */
export interface TakenSegment {
  readonly run: string;
  /** Another one for each time that the segment is taken. */
  readonly ticket: string;
}

/** Which segments a worker takes: those whose labels it has, all of them. */
export interface SegmentOffer {
  readonly labels: readonly string[];
  /** The most segments at once: taken and not released. */
  readonly slots: number;
}

/** Takes no more once it has resolved. What was taken stays taken. */
export type StopTaking = () => Promise<void>;

/**
 * Wakes a worker for each run that has something to do. It may wake one too often, or late, and forget: the store of the pool says who drives
 * a run, and a sweep submits again what has no segment. So it can be a queue in a database or a workflow engine; `triggerConformance`
 * in `agentsquad/testing` tests all that is promised here.
 */
export interface Trigger {
  /**
   * `known`: the run has a segment already, which waits or was taken. There is never more than one. A segment that waits for its time is
   * due at once.
   */
  submit(segment: Segment): Promise<'queued' | 'known'>;
  /** Hands over what fits, soon after it is due and while a slot is free. `onTaken` must not throw. */
  take(offer: SegmentOffer, onTaken: (taken: TakenSegment) => void): Promise<StopTaking>;
  /** To be called every 3 s. `lost`: another worker has the segment or may have it; nothing may be done for it any more. */
  renew(taken: TakenSegment): Promise<'kept' | 'lost'>;
  /** Gives the segment back and its slot free; nothing happens to one that is lost. `again`: it is due once more at that time, epoch ms. */
  release(taken: TakenSegment, how?: { readonly again?: number }): Promise<void>;
  /** All that it has taken stays taken until its time is over. */
  close(): Promise<void>;
}
