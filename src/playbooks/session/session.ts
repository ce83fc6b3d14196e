import type { Json } from '../../text/json.ts';

export type SessionStatus = 'active' | 'paused' | 'completed';

/** A session folder without a problem, as plain JSON: a run keeps it and never reads the folder again. */
export interface Session {
  readonly id: string;
  readonly team: string;
  readonly description: string;
  readonly status: SessionStatus;
  readonly roles: readonly SessionRole[];
  /** In the file's order. */
  readonly tasks: readonly SessionTask[];
  /** Slugs of tasks, in the order of `completed_tasks`. */
  readonly completed: readonly string[];
  readonly start: SessionStart;
  /** Path of the folder below the top of the checkout, with `/`; empty: the top itself. Absent: it is elsewhere. */
  readonly place?: string;
}

export interface SessionRole {
  readonly name: string;
  /** Safe, and no other role has it. */
  readonly slug: string;
  readonly prefix: string;
  /** `responsibility_type`; null: the session does not say. */
  readonly responsibility: string | null;
  readonly innerLoop: boolean;
  /** Path below the folder. */
  readonly file: string;
  readonly text: string;
}

export interface SessionTask {
  /** As people wrote it. */
  readonly id: string;
  /** Safe, and no other task has it: the id of the task, a path and a ref. */
  readonly slug: string;
  readonly subject: string;
  /** Slug of its role. */
  readonly role: string;
  /** Slugs of tasks. */
  readonly needs: readonly string[];
}

/** The contents of the folder at the start of the run. */
export interface SessionStart {
  /** Text of `team-session.json`, with keys that squad does not know. */
  readonly state: string;
  readonly memory: { readonly [key: string]: Json };
  readonly wisdom: { readonly learnings: string; readonly decisions: string; readonly issues: string };
  readonly explorations: {
    /** `cache-index.json`; null: there was none. */
    readonly index: Json;
    readonly files: readonly { readonly name: string; readonly text: string }[];
  };
  /** `text`: the first 16 KiB. */
  readonly artifacts: readonly { readonly name: string; readonly text: string; readonly isCut: boolean }[];
  /** Names of files. */
  readonly discussions: readonly string[];
  /** Text of each JSON file with a number that `JSON.stringify` would write differently, by its path. Absent: there is none. */
  readonly texts?: { readonly [path: string]: string };
  /** Characters of all files that were read. Absent: not counted. */
  readonly size?: number;
  /** SHA-256 in hex of each file that was read whole, by its path below the folder. */
  readonly hashes: { readonly [path: string]: string };
}
