import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ONLY } from '../../model/git-settings.ts';
import { orNothing } from '../system/files/odd-entry.ts';
import { realPath } from '../system/files/real-path.ts';
import type { Processes } from '../ports/processes.ts';
import type { Git, GitCall, GitPorts } from './git-call.ts';
import type { RepositoryTalk } from './repository-talk.ts';
import type { Sent } from './share-objects.ts';
import type { ConfigEntry } from './user-configuration.ts';

/** How many folders are kept for the next tasks. */
export interface SpareSettings {
  /** 0: none, and those that are there are deleted. `as-before`: as many as the last run. */
  readonly most: number | 'as-before';
  /** Only in a repository of so many files: with fewer, to write a folder takes less time than to look after a spare one. */
  readonly from: number;
  /** None while less than this would stay free on the disk. */
  readonly freeBytes: number;
}

/** The context that the parts of the git workspaces share. */
export interface GitContext {
  readonly git: Git;
  readonly processes: Processes;
  /** The user's git directory. Agents cannot write there, and the engine only adds objects and moves the run's refs. */
  readonly commonDirectory: string;
  /** One folder for each run of the repository. */
  readonly runsDirectory: string;
  /** For index files and long outputs. Its path contains the marker of this engine's git processes. */
  readonly temporary: string;
  readonly marker: string;
  readonly environment: GitPorts['environment'];
  /** As git reads it in the user's repository. Read once. */
  userConfiguration(): Promise<readonly ConfigEntry[]>;
  /** With the user's repository. */
  readonly talk: RepositoryTalk;
  /** The runs that this object works on, each opened once. */
  readonly runs: Map<string, Promise<RunRepository>>;
  readonly spares: SpareSettings;
  /** Folders of tasks have the files of these folders of the repository alone, and those beside and above them. Absent: as the checkout. */
  readonly sparse: readonly string[] | undefined;
  /** Settles when the integration folder has been filled for the last caller. */
  integration: Promise<unknown>;
}

/** The engine's own repository of a run: it holds what the run makes, and borrows the user's objects. */
export interface RunRepository {
  readonly run: string;
  readonly directory: string;
  /** Links to the user's objects of its start, if they could be made: with them agents go on working where that repository is moved. */
  readonly linked: string;
  /** Whether its folders may have a part of the files alone. */
  readonly isSparse: boolean;
  readonly call: GitCall;
  readonly talk: RepositoryTalk;
  /** Commits that a ref of their own protects in the user's repository. */
  readonly pinned: Set<string>;
  /** Objects that the user's repository has from it. */
  readonly sent: Sent;
}

/** A call on a git directory, for objects and refs. */
export function callOn(directory: string): GitCall {
  return { cwd: directory, gitDirectory: directory, environment: REPOSITORY_ONLY };
}

/** A call on the repository of a person, who keeps what is made there. */
export function callOnUser(commonDirectory: string): GitCall {
  return { ...callOn(commonDirectory), durable: true };
}

/** A call on the user's repository. */
export function userCall(context: GitContext): GitCall {
  return callOnUser(context.commonDirectory);
}

/** Finds the objects of the newest run, or of the user's repository alone while no run is open. */
export async function anyPlace(context: GitContext): Promise<Pick<RunRepository, 'call' | 'talk'>> {
  const newest = await [...context.runs.values()].at(-1);
  return newest ?? { call: userCall(context), talk: context.talk };
}

export function folderPath(context: GitContext, run: string, task: string): string {
  return join(context.runsDirectory, run, task);
}

/**
 * The engine's notes about a folder are next to it, because agents may write only inside. A person may have put their folder on another
 * disk: the path is that of the folder itself, because nothing is removed through a link.
 */
export function notePath(context: GitContext, run: string, name: string): string {
  return join(realFolder(noteLink(context, run)), name);
}

/** Where the folder of the notes is, or a link to it. */
export function noteLink({ runsDirectory }: Pick<GitContext, 'runsDirectory'>, run: string): string {
  return join(runsDirectory, run, '.squad');
}

function realFolder(path: string): string {
  if (orNothing(() => lstatSync(path))?.isSymbolicLink() !== true) return path;
  return realPath(path) ?? path;
}

export function runBranch(run: string): string {
  return `refs/heads/squad/${run}`;
}

export function attemptRef(run: string, attempt: string): string {
  return `refs/squad/${run}/${attempt}`;
}
