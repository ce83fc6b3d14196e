export interface ChangedFile {
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'retyped';
}
/** A change with its lines; null: the file is binary. */
export interface LineChange {
  /** Where the file was; of an added one where it is. */
  readonly path: string;
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed';
  /** Where a renamed one is. */
  readonly to?: string;
  /** The id of its content in the later commit; null: it is not there. */
  readonly object: string | null;
  readonly added: number | null;
  readonly removed: number | null;
}
export interface CommitLine {
  readonly commit: string;
  readonly subject: string;
}

/** Files of one commit as another has them. */
export interface OverlayOrder {
  readonly onto: string;
  readonly from: string;
  /** By path; null: as `from` has it, or without it; else with this text. What does not differ stays. */
  readonly files: ReadonlyMap<string, string | null>;
}

export type DroppedBranch =
  | { readonly type: 'absent' }
  /** `kept`: the ref that has its work; absent: no ref was asked for. */
  | { readonly type: 'deleted'; readonly head: string; readonly kept?: string }
  /**
   * `unmerged`: no other branch has the delivered work. `other-run`: another run has this name here. `foreign`: no other branch has
   * `commits` (newest first) and `more` others, which the run did not deliver.
   */
  | {
      readonly type: 'kept';
      readonly head: string;
      readonly why: 'checked-out' | 'unmerged' | 'other-run' | 'foreign';
      readonly commits?: readonly CommitLine[];
      readonly more?: number;
    };

/** A link that leads out of the repository. */
export interface EscapingLink {
  readonly path: string;
  readonly target: string;
}

/** Facts about commits of a repository. See `Workspaces`. */
export interface CommitFacts {
  /** The commits in `commit` that `base` lacks, newest first, 1,000 at most. */
  commitsBetween(base: string, commit: string, merges?: 'without-merges'): Promise<readonly CommitLine[]>;
  /** Compares contents, so reverted changes do not count. */
  changedFiles(base: string, commit: string): Promise<readonly ChangedFile[]>;
  /** As `changedFiles`, with counts of lines and with renames. */
  changedLines(base: string, commit: string): Promise<readonly LineChange[]>;
  /** For people: one line per file. */
  diffStat(base: string, commit: string): Promise<string>;
  /** undefined: the commits share no history. */
  mergeBase(one: string, other: string): Promise<string | undefined>;
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /** False also for folders, links and paths that leave the tree. */
  isFileAt(commit: string, path: string): Promise<boolean>;
  /**
   * The bytes of a file. `not-a-file`: a folder, link or submodule is there. `too-large`: it has more than `most` bytes, and
   * none was read. A path that leaves the tree is `absent`.
   */
  readFileAt(commit: string, path: string, most: number): Promise<Uint8Array | 'absent' | 'not-a-file' | 'too-large'>;
}
