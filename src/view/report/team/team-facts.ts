import type { SprintProgress } from '../../../model/sprint/sprint.ts';
import type { RunFacts } from '../../sprint/run-facts.ts';

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
