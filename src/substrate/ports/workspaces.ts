import type { GitSettings } from '../../model/git-settings.ts';
import type { Workspace } from '../../model/turn-request.ts';

/** Something about a repository that does not stop a run and that a person should know before it. */
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
    | 'shallow';
  readonly text: string;
  readonly next?: string;
}

/** What agents can do with a repository, found out before a run exists. */
export interface RepositoryReport {
  readonly root: string;
  readonly commonDirectory: string;
  /** Where agents start from. */
  readonly head: string;
  readonly key: string;
  /** The branch that is checked out; undefined when HEAD is detached. */
  readonly branch: string | undefined;
  /** The checkout is itself a linked worktree. */
  readonly linked: boolean;
  readonly shallow: boolean;
  readonly sparse: boolean;
  /** Paths of submodules at `head`. */
  readonly submodules: readonly string[];
  /** Filter drivers that `.gitattributes` at `head` name, such as `lfs`. */
  readonly filters: readonly string[];
  readonly gitVersion: string;
  readonly warnings: readonly RepositoryWarning[];
}

/** A detached worktree of one task, used by all its attempts. Plain data: it belongs into the ledger. */
export interface Worktree {
  readonly run: string;
  readonly task: string;
  readonly base: string;
  readonly workspace: Workspace & { readonly git: NonNullable<Workspace['git']> };
  /** Of its `config.worktree`, which nobody but the engine may change. */
  readonly configHash: string;
  /** The attempt for which it was last made anew; its setup is due again since then. Absent: it never was. */
  readonly resetFor?: string | undefined;
  /** How often it was made anew because somebody had deleted the folder, since it was last reset. Absent: never. */
  readonly remade?: number | undefined;
}

/** A folder that was not finished when its engine died, or half deleted: nobody's work is in it. */
export interface HalfMade {
  readonly run: string;
  readonly task: string;
  readonly path: string;
}

/** What can make git run a program, as hashes, by file below the common git directory. Plain data. */
export interface Baseline {
  readonly files: Readonly<Record<string, string>>;
  /** Of the bytes of config files: while these hold, their keys need not be read again. */
  readonly bytes: Readonly<Record<string, string>>;
  /** Where remotes lead, by key (`remote.origin.url`). Absent: a run of an older squad, which did not look. */
  readonly remotes?: Readonly<Record<string, string>> | undefined;
}

export interface BaselineChange {
  readonly file: string;
  readonly problem: 'added' | 'changed' | 'removed' | 'symbolic-head' | 'foreign-pointer';
}
export type BaselineAnswer =
  | { readonly type: 'unchanged' }
  | { readonly type: 'changed'; readonly changes: readonly BaselineChange[] };

/** What is in a worktree's folder now, committed or not; ignored files are left out. */
export interface Snapshot {
  readonly type: 'snapshot';
  /** The commit that the worktree's HEAD names. */
  readonly head: string;
  /** Without what is inside of folders that are repositories of their own, submodules among them. */
  readonly tree: string;
  /** The folder holds exactly what `head` holds. */
  readonly clean: boolean;
}
export type SnapshotAnswer = Snapshot | { readonly type: 'unreadable'; readonly reason: string };

/** `head`, `clean`: of the worktree, as it was kept. */
export type RescueAnswer =
  | { readonly type: 'kept'; readonly commit: string; readonly head: string; readonly clean: boolean }
  | Extract<SnapshotAnswer, { type: 'unreadable' }>;

export type RemovalAnswer =
  /** `kept`: the commit at `refs/squad/<run>/<attempt>` that holds what was in it; absent when all of it was `base`. */
  | { readonly type: 'removed'; readonly kept?: string; readonly rescued: boolean }
  | {
      readonly type: 'refused';
      readonly reason: 'baseline' | 'unreadable' | 'repositories' | 'in-use' | 'not-deleted';
      readonly detail: readonly string[];
    };

export type ResetAnswer =
  /** `rescued`: the ref that holds what was in it; absent when `commit` has all of it, or when this attempt had it reset before. */
  | { readonly type: 'ready'; readonly worktree: Worktree; readonly rescued?: string }
  | Extract<RemovalAnswer, { type: 'refused' }>;

export interface ConflictedFile {
  readonly path: string;
  /** Conflicting lines with their markers, shortened; empty where there are none (a deleted or binary file). */
  readonly excerpt: string;
}
export interface EscapingLink {
  readonly path: string;
  readonly target: string;
}
export type IntegrationAnswer =
  /** In the object database alone: `integrationAt` shows it. The run branch has not moved. */
  | { readonly type: 'candidate'; readonly commit: string; readonly onto: string }
  | {
      readonly type: 'conflict';
      readonly onto: string;
      readonly files: readonly ConflictedFile[];
      readonly messages: readonly string[];
    }
  /** The run branch has all of it already. */
  | { readonly type: 'empty'; readonly onto: string }
  | { readonly type: 'refused'; readonly reason: 'escaping-links'; readonly links: readonly EscapingLink[] }
  | { readonly type: 'refused'; readonly reason: 'unrelated-history' }
  /** There is no run branch: somebody deleted it. */
  | { readonly type: 'refused'; readonly reason: 'gone' }
  | { readonly type: 'refused'; readonly reason: 'baseline'; readonly changes: readonly BaselineChange[] };

export type BranchAnswer =
  /** `created` is false when it stood at this commit before. */
  { readonly type: 'ready'; readonly created: boolean } | { readonly type: 'taken'; readonly head: string };

export type AdvanceAnswer =
  | { readonly type: 'advanced' }
  /** The branch is elsewhere (undefined: gone); it was not moved. */
  | { readonly type: 'moved'; readonly head: string | undefined }
  /** Somebody works on it: moving it would make their checkout look changed. */
  | { readonly type: 'checked-out'; readonly paths: readonly string[] };

export interface TidyAnswer {
  readonly removed: readonly string[];
  /** Lock files whose owner may still be alive. */
  readonly held: readonly string[];
}

/** What is left of a run in the repository once its refs were dropped. */
export interface DroppedRefs {
  /** Refs of attempts that are gone. */
  readonly attempts: number;
  readonly branch:
    | { readonly type: 'deleted'; readonly head: string }
    | { readonly type: 'absent' }
    /** `unmerged`: what was delivered is on no other branch. */
    | { readonly type: 'kept'; readonly head: string; readonly why: 'checked-out' | 'unmerged' };
}

export interface ChangedFile {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'retyped';
}
export interface CommitLine {
  readonly commit: string;
  readonly subject: string;
}

/**
 * Where agents work, and how their work comes together: worktrees, the run branch, evidence. One object serves one
 * repository. Everything an agent may have caused is an answer; what throws (a SquadError) is a broken machine, or an id
 * that is none. The user's branch, index, tree and config are only ever read.
 */
export interface Workspaces {
  /** What is true before any agent has run. */
  takeBaseline(): Promise<Baseline>;
  /** Before the engine's git works on a worktree, and before and after each turn. */
  checkBaseline(baseline: Baseline, worktree?: Worktree): Promise<BaselineAnswer>;
  /** Whether a remote leads where it led, before anything is sent there. `file` of a change is the key. */
  checkRemote(baseline: Baseline, remote: string): Promise<BaselineAnswer>;

  /**
   * Settings for the git of agents: it runs no program that a configuration names, signs nothing, and commits under the
   * user's name, or under squad's if the user has none.
   */
  agentSettings(): Promise<GitSettings>;

  /**
   * A worktree at `commit`, or the one that this task already has. A worktree that a crash left unfinished is created again. If
   * somebody deleted the folder, it is created again at its last commit, or at `kept` if that commit is gone too.
   */
  addWorktree(place: { run: string; task: string; commit: string; kept?: string | undefined }): Promise<Worktree>;
  /**
   * The same folder at another commit, for a worktree that holds nobody's work: what is in it is kept at the attempt's ref
   * first; ignored files stay, so that what was set up in it need not be made again.
   */
  moveWorktree(worktree: Worktree, commit: string, attempt: string): Promise<Worktree | SnapshotAnswer>;
  /**
   * HEAD of a worktree at another commit, with every file as it is. The index stays too (`staged`: all that differs is ready
   * to be committed), or goes along.
   */
  standOn(worktree: Worktree, commit: string, index: 'staged' | 'follows'): Promise<void>;
  /**
   * Between attempts: clears lock files that a killed git left there and that are proven to be nobody's. Those of somebody
   * alive are waited for, for two seconds, and then named.
   */
  tidyWorktree(worktree: Worktree): Promise<TidyAnswer>;
  snapshot(worktree: Worktree): Promise<SnapshotAnswer>;
  /**
   * Commits what is in the worktree, committed or not, at `refs/squad/<run>/<attempt>`, without touching the worktree. The
   * same commit when nothing changed since.
   */
  rescue(worktree: Worktree, attempt: string): Promise<RescueAnswer>;
  /**
   * After `rescue`, and only if nothing that is not in a commit would be lost. Ignored files go. Safe to repeat. Of a
   * half-made one all goes.
   */
  removeWorktree(worktree: Pick<Worktree, 'run' | 'task'>, attempt: string): Promise<RemovalAnswer>;
  /**
   * The same path as if its worktree had just been made at `commit`, once for each attempt: asked again for that one, it stays
   * as it is. What is in it, committed or not, is kept first at `refs/squad/<run>/<rescueAs>`, or at `<rescueAs>-2` and so on
   * where that name holds something else: no ref is moved. Untracked files are kept that way too; ignored ones are not and
   * go: an output of a build must not survive. Refused where `removeWorktree` would refuse. After a
   * crash anywhere in it, `addWorktree` and the same call end the same.
   */
  resetWorktree(worktree: Worktree, order: { commit: string; attempt: string; rescueAs: string }): Promise<ResetAnswer>;

  /** `refs/squad/<run>/<attempt>`: keeps a commit from being collected. Safe to repeat. */
  keepAttempt(run: string, attempt: string, commit: string): Promise<void>;
  /** `squad/<run>` at `base`, checked out nowhere. */
  createRunBranch(run: string, base: string): Promise<BranchAnswer>;
  /** undefined: there is no such branch. */
  runHead(run: string): Promise<string | undefined>;
  /**
   * Makes the commit that the run branch would have with this work: the work itself where that is ahead, else a merge.
   * One at a time for each run, until it was advanced or dropped: the queue is the caller's.
   */
  integrate(work: { run: string; commit: string; message: string; baseline: Baseline }): Promise<IntegrationAnswer>;
  /** The integration worktree with this candidate checked out: for whoever has something to run on it. */
  integrationAt(run: string, candidate: string): Promise<Worktree>;
  /** Moves the run branch if it still stands at `from`. The same move again is `advanced`. */
  advance(run: string, from: string, to: string): Promise<AdvanceAnswer>;
  /** Removes the integration worktree, at the end of a run. */
  closeRun(run: string): Promise<void>;
  /** Of a run, by what was noted when they were made; the integration worktree too. */
  listWorktrees(run: string): Promise<readonly Worktree[]>;
  /** Of a run. Only for whoever holds the workspace: a live engine's are among them while it makes them. */
  listHalfMade(run: string): Promise<readonly HalfMade[]>;
  /** The run's own folder, once its worktrees are gone. Returns what else is in it, which stays. */
  removeRunFolder(run: string): Promise<readonly string[]>;
  /** The run branch, if its work is elsewhere too, and `refs/squad/<run>/*` but those of the attempts in `keep`. */
  dropRefs(run: string, keep: readonly string[]): Promise<DroppedRefs>;

  /** Removes what this object keeps for itself while it works; the last call on it. A killed engine's is left to `squad clean`. */
  close(): Promise<void>;

  /** What `commit` has and `base` has not, newest first, 1,000 at most. */
  commitsBetween(base: string, commit: string): Promise<readonly CommitLine[]>;
  /** By content, so that work which undoes itself changes nothing. */
  changedFiles(base: string, commit: string): Promise<readonly ChangedFile[]>;
  /** As people read it: one line a file. */
  diffStat(base: string, commit: string): Promise<string>;
  /** undefined: they share no history. */
  mergeBase(one: string, other: string): Promise<string | undefined>;
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /** False also for folders, links and paths that leave the tree. */
  isFileAt(commit: string, path: string): Promise<boolean>;
}
