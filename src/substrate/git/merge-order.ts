import type { Loss } from './merge-losses.ts';
import type { Repository } from './repository.ts';

/** A commit to merge into the branch that is checked out. */
export interface MergeOrder {
  /** The name of the run that made the commit. */
  readonly run: string;
  readonly commit: string;
  /** For the merge commit, if one is needed. */
  readonly message: string;
  /** One commit with all of it, whose parent is the branch alone. */
  readonly squash?: boolean | undefined;
  /** Whether uncommitted changes of this path, relative to the root, may stay as they are where the merge does not change it. */
  readonly mayStay?: (path: string) => boolean;
}

type MergeForm = 'fast-forward' | 'merge' | 'squash';

export type MergeAnswer =
  | { readonly type: 'merged'; readonly how: MergeForm; readonly from: string; readonly commit: string }
  /** The branch has all of it. */
  | { readonly type: 'already' }
  | { readonly type: 'unrelated' }
  | { readonly type: 'conflict'; readonly files: readonly string[] }
  /** Tracked files differ from HEAD, and may not stay so. */
  | { readonly type: 'dirty'; readonly files: readonly string[] }
  | Loss
  /** A merge of this other run was cut short, and left files in the checkout. */
  | { readonly type: 'cut-short'; readonly run: string }
  /** Another operation of git has begun in the checkout. */
  | { readonly type: 'busy'; readonly with: string }
  /** The branch moved meanwhile. */
  | { readonly type: 'moved' }
  /** git could not lock or move the branch, for a reason of its own. */
  | { readonly type: 'refused'; readonly why: string };

/** A checkout with a branch. */
export type BranchCheckout = Repository & { readonly branch: string };
