import type { SideWork } from '../../model/plan/evidence.ts';
import type { CopiedFile } from '../../model/copied-file.ts';
import type { GitSettings } from '../../model/git-settings.ts';
import type { Workspace } from '../../model/turn-request.ts';
import type { MadeFolders } from './made.ts';
import type { CommitFacts, DroppedBranch, EscapingLink, OverlayOrder } from './changes.ts';

export type { ChangedFile, CommitLine } from './changes.ts';

/** A property of a repository that a person should know before a run. It does not stop the run. */
export interface RepositoryWarning {
  readonly about:
    | 'tracked-changes'
    | 'git-version'
    | 'identity'
    | 'signing'
    | 'hooks'
    | 'filters'
    | 'submodules'
    | 'sparse'
    | 'shallow'
    | 'detached'
    | 'git-variables';
  readonly text: string;
  readonly next?: string;
}

/** A repository in which agents can work, as found before a run exists. */
export interface RepositoryReport {
  readonly root: string;
  readonly commonDirectory: string;
  /** The commit from which agents start. */
  readonly head: string;
  /** The branch that is to get the work: the one that is checked out, or that of `from`; undefined when HEAD is detached. */
  readonly branch: string | undefined;
  /** The beginning as a person named it; absent: they named none. */
  readonly from?: string;
  readonly sparse: boolean;
  /** Names of the runs that have a branch `squad/<run>`. */
  readonly runBranches: readonly string[];
  readonly warnings: readonly RepositoryWarning[];
}

/** The folder of one task, a repository of its own, used by all its attempts. Plain data, stored next to the folder. */
export interface TaskFolder {
  readonly run: string;
  readonly task: string;
  readonly base: string;
  readonly workspace: Workspace;
  /** The attempt for which it was last reset; its setup must run again since then. Absent: never reset. */
  readonly resetFor?: string | undefined;
  /** How often the engine created it again because the folder was deleted, since the last reset. Absent: never. */
  readonly remade?: number | undefined;
  /** This call created it, so that it holds exactly the commit that was asked for. Never stored. */
  readonly fresh?: true;
}

export type FolderOrder = Pick<TaskFolder, 'run' | 'task'> & {
  commit: string;
  kept?: string | undefined;
  inUse?: boolean;
  freeOne?: () => Promise<boolean>;
};

/** The folder of a task or of the integration. */
export interface ListedFolder {
  readonly run: string;
  readonly task: string;
  readonly path: string;
  /** Half created or half deleted when its engine died. No work is in it. */
  readonly isHalfMade: boolean;
}

/** The files in a task's folder, committed or not, without ignored ones. */
export interface Snapshot {
  readonly type: 'snapshot';
  /** The commit that the folder's HEAD names. */
  readonly head: string;
  /** Without the content of repositories in the folder, such as submodules. */
  readonly tree: string;
  /** The folder holds exactly what `head` holds. */
  readonly clean: boolean;
}
export type SnapshotAnswer = Snapshot | { readonly type: 'unreadable'; readonly reason: string };

/** The commits in a folder that the run now keeps, whatever state its files are in. */
export type CommitsAnswer =
  | { readonly type: 'head'; readonly commit: string; readonly side: SideWork }
  | { readonly type: 'unreadable'; readonly reason: string; readonly side: SideWork }
  /** There is no folder. `kept`: the commit at the attempt's ref, from before. */
  | { readonly type: 'gone'; readonly kept?: string };

/** `head`, `clean`: of the folder at that time. */
export type RescueAnswer =
  | { readonly type: 'kept'; readonly commit: string; readonly head: string; readonly clean: boolean }
  | Extract<SnapshotAnswer, { type: 'unreadable' }>;

/** `changed`: tracked files that a check had changed, the first ones; `more`: how many further ones there are. */
export interface BroughtBack {
  readonly changed: readonly string[];
  readonly more: number;
  /** false: the folder is not what it was after `setup`, and has to be made again before another check. */
  readonly isWhole: boolean;
}

/** Files that turns wrote and git ignores; the path of a folder ends in a slash. `by`: the file with the rule. */
export interface IgnoredWork {
  readonly paths: readonly { readonly path: string; readonly by: string }[];
  /** How many further ones there are. */
  readonly more: number;
}

export type RemovalAnswer =
  /**
   * `kept`: the commit at `refs/squad/<run>/<attempt>` with its work; absent if there was none beyond `base`. `side`: what was kept
   * besides; absent if there was none.
   */
  | { readonly type: 'removed'; readonly kept?: string; readonly rescued: boolean; readonly side?: SideWork }
  | {
      readonly type: 'refused';
      readonly reason: 'unreadable' | 'repositories' | 'in-use' | 'not-deleted';
      readonly detail: readonly string[];
    };

export type ResetAnswer =
  /** `rescued`: the ref that keeps its work; absent if `commit` has all of it, or if this attempt reset it before. */
  | { readonly type: 'ready'; readonly folder: TaskFolder; readonly rescued?: string }
  | Extract<RemovalAnswer, { type: 'refused' }>;

export interface ConflictedFile {
  readonly path: string;
  /** Conflicting lines with markers, shortened; empty for a deleted or binary file. */
  readonly excerpt: string;
}
export type IntegrationAnswer =
  /** Only in the object database; `integrationAt` checks it out. The run branch has not moved. */
  | { readonly type: 'candidate'; readonly commit: string; readonly onto: string }
  | {
      readonly type: 'conflict';
      readonly onto: string;
      readonly files: readonly ConflictedFile[];
      readonly messages: readonly string[];
    }
  /** The run branch has all of the work already. */
  | { readonly type: 'empty'; readonly onto: string }
  | { readonly type: 'refused'; readonly reason: 'escaping-links'; readonly links: readonly EscapingLink[] }
  | { readonly type: 'refused'; readonly reason: 'unrelated-history' }
  /** The run branch was deleted. */
  | { readonly type: 'refused'; readonly reason: 'gone' };

export type BranchAnswer = { readonly type: 'ready' } | { readonly type: 'taken'; readonly head: string };

export type AdvanceAnswer =
  | { readonly type: 'advanced' }
  /** The branch is at another commit (undefined: deleted); it was not moved. */
  | { readonly type: 'moved'; readonly head: string | undefined };

export interface DroppedRefs {
  /** Number of deleted refs of attempts. */
  readonly attempts: number;
  /** Refs that stay: of what a person had put on the run branch, and no branch of theirs has. */
  readonly foreign: readonly string[];
  readonly branch: DroppedBranch;
}

/**
 * Folders of tasks, the run branch and evidence of one repository. Everything that an agent may have caused is an answer; a
 * thrown SquadError means a broken machine or an invalid id. Of the user's repository, only the refs of the run change.
 */
export interface Workspaces extends MadeFolders<TaskFolder>, CommitFacts {
  /**
   * Settings for the git of agents: it runs no configured program, signs nothing, and commits under the user's name, or under
   * squad's if the user has none.
   */
  agentSettings(): Promise<GitSettings>;
  /**
   * A folder at `commit`, or the one that this task already has. Creates a folder again that a crash left unfinished. If the
   * folder was deleted, creates it at `kept`. Removes the locks of a git that was killed there, but not while a process works in
   * the folder. In each folder `squad/<run>` names the run branch's commit, like a branch of a remote. `inUse`: a turn of an earlier
   * engine may work there, so nothing in it is touched. `freeOne` removes a folder in which no turn is going to work, so that its
   * files serve the new one; false: there is none.
   */
  addFolder(place: FolderOrder): Promise<TaskFolder>;
  /**
   * Brings the same folder to another commit. Keeps the work in it at the attempt's ref first. Ignored files stay, so that
   * `setup` need not run again.
   */
  moveFolder(folder: TaskFolder, commit: string, attempt: string): Promise<TaskFolder | SnapshotAnswer>;
  /**
   * Moves HEAD of a folder to another commit and leaves the files. The index stays (`staged`: all differences are ready to be
   * committed) or follows.
   */
  standOn(folder: TaskFolder, commit: string, index: 'staged' | 'follows'): Promise<void>;
  snapshot(folder: Pick<TaskFolder, 'run' | 'task'>): Promise<SnapshotAnswer>;
  /**
   * Keeps the commits in a task's folder without a look at its files: the one at HEAD at `refs/squad/<run>/<attempt>`, and each one
   * that HEAD does not have (other branches, stashes, what its logs name) at `refs/squad/<run>/<task>-side-at-<commit>`.
   */
  keepCommits(folder: Pick<TaskFolder, 'run' | 'task'>, attempt: string): Promise<CommitsAnswer>;
  /**
   * Keeps the folder's files, committed or not, in a commit at `refs/squad/<run>/<attempt>`, without changing the folder.
   * Returns the same commit if nothing changed since.
   */
  rescue(folder: TaskFolder, attempt: string): Promise<RescueAnswer>;
  /**
   * Removes a folder after keeping its work as `keepCommits` and `rescue` do, and refuses if anything else would be lost. Deletes
   * ignored files, and all of a half-made folder. Safe to repeat. `failed`: small ignored files of its turns are kept, too.
   */
  removeFolder(folder: Pick<TaskFolder, 'run' | 'task'>, attempt: string, failed?: boolean): Promise<RemovalAnswer>;
  /** From now on no work of the run has these files, which its folders get. `kept`: the folder with their contents. Safe to repeat. */
  noteCopies(run: string, files: readonly CopiedFile[], kept: string): Promise<void>;
  /** Notes which ignored files are there before a task's turns: none in a `fresh` folder. Later calls change nothing until it is moved. */
  noteIgnored(folder: TaskFolder): Promise<void>;
  /** The ignored files that are new or have changed since. `head`: the commit that `rescue` found. */
  ignoredWork(folder: TaskFolder, head: string): Promise<IgnoredWork>;
  /**
   * Creates the folder again at `commit`, once for each attempt: a second call for the attempt changes nothing. First keeps its
   * work, untracked files included, at `refs/squad/<run>/<rescueAs>`, or at `<rescueAs>-2` and so on if that ref holds other work.
   * Deletes ignored files, so that no build output survives. Refuses where `removeFolder` would. After a crash at any point,
   * `addFolder` and the same call have the same result.
   */
  resetFolder(folder: TaskFolder, order: { commit: string; attempt: string; rescueAs: string }): Promise<ResetAnswer>;
  /** Keeps a commit at `refs/squad/<run>/<attempt>`. Safe to repeat. */
  keepAttempt(run: string, attempt: string, commit: string): Promise<void>;
  /** The person's checkout that has the run branch checked out. */
  checkoutOf(run: string): Promise<string | undefined>;
  /**
   * Creates `squad/<run>` at `base` without checking it out. `pins`: other commits that the run needs until its end. `owner`: the
   * run's id, which claims the name in the same transaction; another owner's name is taken. A branch that its owner made before
   * stays where a person has moved it since.
   */
  createRunBranch(run: string, base: string, pins?: readonly string[], owner?: string): Promise<BranchAnswer>;
  /** undefined: there is no such branch. */
  runHead(run: string): Promise<string | undefined>;
  /**
   * Makes the commit that the run branch would have with this work: the work itself if it is ahead, otherwise a merge. The caller
   * integrates one piece of work at a time for each run.
   */
  integrate(work: { run: string; commit: string; message: string }): Promise<IntegrationAnswer>;
  /** Makes a commit on top of another, with some files as they are elsewhere. It is part of no work. */
  overlay(run: string, order: OverlayOrder): Promise<string>;
  /** The integration folder with this candidate checked out, for commands that run on it. */
  integrationAt(run: string, candidate: string): Promise<TaskFolder>;
  /** Notes what `setup` has made in a folder in which only the engine works, once for each time that it is filled. */
  noteMade(folder: TaskFolder): Promise<void>;
  /** Whether that is noted for the folder as it is. */
  hasMade(folder: TaskFolder): Promise<boolean>;
  /**
   * Undoes what a check did to such a folder: tracked and untracked files, HEAD, refs and settings, and (`go`) ignored files that
   * `setup` did not make. Paths that `keep` names stay.
   */
  bringBack(folder: TaskFolder, keep: readonly string[], ignored: 'stay' | 'go'): Promise<BroughtBack>;
  /** Deletes such a folder and makes it again at its commit. Ignored paths that `keep` names are put back. */
  makeAnew(folder: TaskFolder, keep: readonly string[]): Promise<TaskFolder>;
  /** A folder of its own with the run's base checked out, for commands that run on it. Safe to repeat. */
  baselineAt(run: string, base: string): Promise<TaskFolder>;
  /** Removes that folder, in which no agent works. Safe to repeat. */
  dropBaseline(run: string): Promise<void>;
  /** Moves the run branch if it is still at `from`. Repeating a move gives `advanced`. */
  advance(run: string, from: string, to: string): Promise<AdvanceAnswer>;
  /** Deletes `squad/<run>` if it is at `head` and not checked out. Returns whether it is gone. Safe to repeat. */
  dropBranch(run: string, head: string): Promise<boolean>;
  /** The folders of a run by their notes. Only for the holder of the workspace: a running engine has half-made ones. */
  listFolders(run: string): Promise<readonly ListedFolder[]>;
  /**
   * Removes the folders in which only the engine works, and the rest of what squad made for the run once no folder of a task is left. Returns the
   * names of other files in the run's folder, which stay.
   */
  closeRun(run: string): Promise<readonly string[]>;
  /**
   * Deletes `refs/squad/<run>/*` except the names in `keep`, and the run branch if another branch has its work. Nothing, if
   * another run than `owner` (its id) has claimed the name.
   */
  dropRefs(run: string, keep: readonly string[], owner: string): Promise<DroppedRefs>;
  /**
   * Does one piece of what is left to do with folders that no task has: brings back or deletes one that a task left, or makes one at
   * `commit` while there are fewer than wanted. false: nothing is left. Safe beside other processes.
   */
  tidySpares(commit?: string): Promise<boolean>;
  /** Deletes all of these folders. Only for the holder of the workspace. Returns how many there are (`dryRun`) or were. */
  dropSpares(dryRun?: boolean): Promise<number>;
  /** Removes this object's temporary files. The last call on it. `squad clean` removes those of a killed engine. */
  close(): Promise<void>;
}
