/** An agent gave no verdict, so that another one was asked. */
export interface ReplacedJudge {
  readonly round: number;
  /** The role in which both were asked. */
  readonly role: string;
  readonly agent: string;
  readonly by: string;
  readonly why: string;
}

/** A role without a verdict in a round that was decided without it. */
export interface SilentJudge {
  readonly role: string;
  readonly agent: string;
  readonly why: string;
}
