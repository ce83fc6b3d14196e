/** An agent worked on another account than its own. */
export interface StoodIn {
  readonly agent: string;
  readonly account: string;
  readonly insteadOf: string;
  /** The role that it reviewed as; null: it was the author. */
  readonly review: string | null;
  /** The commit that it reviewed was made on this very account. */
  readonly isAuthors?: true;
}
