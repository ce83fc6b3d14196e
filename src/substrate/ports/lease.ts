/** The right to drive a run. Every decision names its epoch; the ledger refuses an older one. */
export interface Lease {
  readonly runId: string;
  readonly epoch: number;
}
