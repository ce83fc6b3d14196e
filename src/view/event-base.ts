/** Shared by all events that are made from one record of the ledger. */
export interface Base {
  readonly at: number;
  readonly runId: string;
}
