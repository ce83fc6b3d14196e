/** Who drives a run. Every write that decides something names its epoch; an older one is refused. */
export interface Lease {
  readonly runId: string;
  readonly epoch: number;
}
