import type { SprintProgress } from '../../../model/sprint/sprint.ts';

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
}

/** A run of a team, as its ledger has it. */
export interface RunFacts {
  readonly turns: readonly RoleTurn[];
  readonly sessions: readonly RoleSession[];
  readonly messages: readonly RelayMessage[];
}

export const DOCUMENTS = ['milestone', 'plan', 'spec', 'iteration_log'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

/** A document of the planner at the head of the sprint's branch. */
export interface SprintDocument {
  readonly path: string;
  readonly commit: string;
  readonly text: string;
}

export interface SprintCommit {
  readonly commit: string;
  readonly subject: string;
  readonly paths: readonly string[];
}

/** Looked up for one sprint, beside its records. Absent: it was not looked up. */
export interface SprintFacts extends RunFacts {
  readonly documents: Readonly<Partial<Record<DocumentName, SprintDocument>>>;
  /** By the attachment's id. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
  /** Commits of its branch, oldest first. */
  readonly commits?: readonly SprintCommit[] | undefined;
  /** Each version of its progress, oldest first. */
  readonly steps?: readonly SprintProgress[] | undefined;
}

/** All that is written of a team and is not in its records. */
export interface TeamFacts {
  readonly timezone: string;
  /** Whether the run of that id can no longer move. */
  readonly isOver: (run: string) => boolean;
  /** The files of exactly these sprints are made. */
  readonly sprints: ReadonlyMap<string, SprintFacts>;
  /** The newest run that planned requests. */
  readonly planning?: RunFacts | undefined;
}

export const NO_FACTS: SprintFacts = { turns: [], sessions: [], messages: [], documents: {}, attachments: new Map() };

/** A sprint whose files are made. */
export interface SprintOf {
  readonly id: string;
  /** The name of its folder. */
  readonly folder: string;
  readonly facts: SprintFacts;
}
