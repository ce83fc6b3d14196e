/** Time as a port: real in production, controlled in tests. */
export interface Clock {
  /** Epoch ms: for records and deadlines that outlive a process. Never for measuring a duration. */
  now(): number;
  /** Monotonic ms since an arbitrary start, without the time in which this process stood still: for durations and watchdogs. */
  monotonic(): number;
  /** ms in which it stood still so far. Absent: not known. */
  absentMs?(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
