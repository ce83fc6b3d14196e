import type { NotDone } from './forge-answer.ts';

/** A check of the commit at the head of a pull request, by its newest try. */
export interface Check {
  readonly name: string;
  /** Another try has another id. */
  readonly id: string;
  readonly state: 'pending' | 'passed' | 'failed';
  /** The forge can run it again. */
  readonly canRepeat: boolean;
}

/** The newest review of a person that says yes or no. */
interface Approval {
  readonly by: string;
  readonly says: 'approved' | 'changes';
  readonly commit: string;
}

/** A pull request as it is now. */
export interface Pull {
  readonly number: number;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  /** The commit at its head. */
  readonly head: string;
  /** The branch it goes into, and that branch's commit. */
  readonly base: string;
  readonly baseHead: string;
  readonly isFork: boolean;
  /** `behind`: it has to have its base before it can be merged; `conflict`: it cannot be merged with it. */
  readonly merge: 'behind' | 'conflict' | 'other';
  /** The forge merges it by itself once it may. */
  readonly mergesItself: boolean;
  readonly checks: readonly Check[];
  readonly approvals: readonly Approval[];
  /** Changes with each comment and review, as the forge writes it. */
  readonly changed: string;
}

/** A person's words: do not trust them. */
export interface PullComment {
  readonly id: string;
  /** A line of the work, the pull request as a whole, or a review. */
  readonly on: 'line' | 'pull' | 'review';
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** At most 4,000 characters. */
  readonly body: string;
  readonly path?: string;
  readonly line?: number;
  /** The first comment of the thread that an answer goes to; for others its own id. */
  readonly thread: string;
  /** squad's own login wrote it, and marked it. */
  readonly isOwn: boolean;
}

type Answer<Value> = Promise<Value | NotDone>;

/** The pull requests of one repository on a forge, with the person's login. Nothing throws for what the forge or the network answer. */
export interface ForgePulls {
  read(number: number): Answer<{ readonly type: 'pull'; readonly pull: Pull }>;
  /** Oldest first, 1,000 of each kind at most. */
  comments(number: number): Answer<{ readonly type: 'comments'; readonly comments: readonly PullComment[] }>;
  /** The log of a failed check: the end of it where that is long. Empty: the forge has nothing of it. */
  log(check: Check): Answer<{ readonly type: 'log'; readonly text: string }>;
  /** Runs a check again for which `canRepeat` is true. */
  repeat(check: Check): Answer<{ readonly type: 'repeats' }>;
  /** Answers in the thread of a comment. `marker`: hidden there, and found by `hasMarker` later. */
  answer(of: {
    readonly number: number;
    readonly comment: Pick<PullComment, 'on' | 'thread'>;
    readonly marker: string;
    readonly text: string;
  }): Answer<{ readonly type: 'answered' }>;
  /** Asks the forge to merge it once its rules allow that, and never past them. It must still be at this commit. */
  askMerge(of: { readonly number: number; readonly head: string }): Answer<{ readonly type: 'asked' }>;
  /** The rights of a person in the repository now. */
  roleOf(login: string): Answer<{ readonly type: 'role'; readonly role: 'owner' | 'member' | 'none' }>;
}
