/** One turn of a role, as the run's ledger has it. Times are epoch ms. */
export interface RoleTurn {
  /** The attempt's id, unique in the ledger. */
  readonly id: string;
  readonly role: string;
  readonly agent: string;
  readonly runtime: string;
  readonly task: string;
  readonly title: string;
  readonly startedAt: number;
  /** Absent: it is under way. */
  readonly endedAt?: number | undefined;
  readonly outcome?: string | undefined;
  /** The checked answer; absent: it owed none, or gave none. */
  readonly answer?: unknown;
  /** The last words of a turn without a checked answer. */
  readonly text?: string | undefined;
  /** null: the runtime does not say. */
  readonly costUsd?: number | null | undefined;
}

/** A session that an agent keeps over its turns. */
export interface RoleSession {
  readonly role: string;
  readonly agent: string;
  readonly runtime: string;
  readonly session: string;
  readonly startedAt: number;
  readonly lastUsedAt: number;
  readonly turns: number;
}

/** Mail between members of a run. */
export interface RelayMessage {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: string;
  readonly sentAt: number;
  readonly isRead: boolean;
  readonly body: unknown;
  /** The most important text of it, in one line. */
  readonly says: string;
}

/** A run of a team, as its ledger has it. */
export interface RunFacts {
  readonly turns: readonly RoleTurn[];
  readonly sessions: readonly RoleSession[];
  readonly messages: readonly RelayMessage[];
}
