/** What all events of one record have. */
export interface Base {
  readonly at: number;
  readonly runId: string;
}
