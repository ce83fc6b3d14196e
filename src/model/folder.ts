import type { View } from './plan.ts';

/** A file below the folder that a run was started on, whole. */
export interface FolderFile {
  readonly path: string;
  readonly text: string;
  /** SHA-256 (hex) of what the folder held there at the start. Absent: nothing. */
  readonly held?: string;
}

/** Where a run is when the files of its folder are made. */
export interface FolderMoment {
  /** `active`: an engine works on the run, and nothing holds it. `finished`: it has ended as done. */
  readonly status: 'active' | 'paused' | 'finished';
}

/** A file of a folder that a run makes. */
export interface MadeFile {
  readonly path: string;
  readonly text: string;
  /** It begins empty: one that is there stays. */
  readonly isEmpty?: true;
}

/** A folder that a run makes once all its work is done. */
export interface MadeFolder {
  /** Absolute, without links. */
  readonly folder: string;
  /** As people name it. */
  readonly shown: string;
  readonly files: readonly MadeFile[];
  /** The one of the files that shows that the folder is there because this run made it. */
  readonly proof: string;
  /** Folders in it that may be empty. */
  readonly folders: readonly string[];
  /** The folder was there before the run: the files are added to it. Otherwise it appears whole. */
  readonly isThere: boolean;
  /** The command that continues from there, and what a person should know of it; absent: nothing. */
  readonly next?: string | undefined;
  readonly note?: string | undefined;
}

/** The files of the folder that a run was started on, in the order in which they are written. */
export type KeepsFolder = (view: View, moment: FolderMoment) => readonly FolderFile[];

/** The folder of a run without a branch, asked for once its work is done. `problem`: why it makes none. */
export type MakesFolder = (view: View) => MadeFolder | { readonly problem: string } | undefined;
