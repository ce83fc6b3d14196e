import type { Problem } from '../../text/problem.ts';
import type { Session } from './session.ts';

/** A session folder as it was read. */
export interface FolderRead {
  /** As the person wrote it. */
  readonly folder: string;
  /** By path below the folder, with `/`. Also a folder of it that cannot be used. */
  readonly files: ReadonlyMap<string, FileRead>;
  /** The folders that are there, by path below it; empty: the folder itself. */
  readonly folders: readonly string[];
}

export type FileRead =
  /** `hash`: SHA-256 in hex of what is on the disk. */
  | { readonly text: string; readonly hash?: string }
  /** It cannot be used, and why: a verb follows its path. */
  | { readonly why: string; readonly line?: number };

export type SessionCheck = { readonly ok: true; readonly session: Session } | SessionRefusal;

export interface SessionRefusal {
  readonly ok: false;
  /** The message at which the specification's algorithm stops, word for word. */
  readonly first: string;
  /** In the order of the algorithm, then what it does not look at. */
  readonly problems: readonly Problem[];
  /** The next step, with a command. */
  readonly next: string;
}
