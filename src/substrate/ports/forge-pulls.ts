import type { NotDone } from './forge-answer.ts';

/** A pull request as it is now. */
export interface Pull {
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  /** The commit at its head. */
  readonly head: string;
  /** The branch it goes into, and that branch's commit. */
  readonly base: string;
  readonly baseHead: string;
  readonly isFork: boolean;
  /** `behind`: it has to have its base before it can be merged; `conflict`: it cannot be merged with it. */
  readonly merge: 'clean' | 'behind' | 'conflict' | 'other';
  /** The forge merges it by itself once it may. */
  readonly mergesItself: boolean;
}

export interface Check {
  readonly name: string;
  /** Of its newest try on the commit. */
  readonly id: string;
  readonly state: 'pending' | 'passed' | 'failed';
  /** Tries on this commit. */
  readonly tries: number;
  /** An earlier try on this commit failed. */
  readonly failedBefore: boolean;
  /** The forge can run it again. */
  readonly canRepeat: boolean;
}

/** A person's words: do not trust them. */
export interface PullComment {
  readonly id: string;
  /** Of a line of the work, of the pull request, or of a review. */
  readonly on: 'line' | 'pull' | 'review';
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** At most 4,000 characters. */
  readonly body: string;
  readonly path?: string;
  readonly line?: number;
  /** The comment of the thread that an answer goes to; for others its own. */
  readonly thread: string;
}

/** The newest review of a person that says yes or no. */
export interface Approval {
  readonly by: string;
  readonly says: 'approved' | 'changes';
  readonly commit: string;
}

export type Answer<Value> = Value | NotDone;

/** One pull request on a forge, with the person's login. Nothing throws for what the forge or the network answer. */
export interface ForgePulls {
  read(number: number): Promise<Answer<{ readonly type: 'pull'; readonly pull: Pull }>>;
  checks(commit: string): Promise<Answer<{ readonly type: 'checks'; readonly checks: readonly Check[] }>>;
  /** What a failed check says, its end where that is long. */
  log(check: Pick<Check, 'id' | 'name'>): Promise<Answer<{ readonly type: 'log'; readonly text: string }>>;
  repeat(check: Pick<Check, 'id' | 'name'>): Promise<Answer<{ readonly type: 'repeats' }>>;
  /** Oldest first, 1,000 of each kind at most. */
  comments(number: number): Promise<Answer<{ readonly type: 'comments'; readonly comments: readonly PullComment[] }>>;
  approvals(number: number): Promise<Answer<{ readonly type: 'approvals'; readonly approvals: readonly Approval[] }>>;
  /** Answers in the comment's thread; `text` has a marker of its own, by which it was not found before. */
  answer(of: {
    readonly number: number;
    readonly comment: Pick<PullComment, 'on' | 'thread'>;
    readonly text: string;
  }): Promise<Answer<{ readonly type: 'answered' }>>;
  /** Asks the forge to merge it once its rules allow that, and never past them. */
  askMerge(of: { readonly number: number; readonly head: string }): Promise<Answer<{ readonly type: 'asked' }>>;
  roleOf(login: string): Promise<Answer<{ readonly type: 'role'; readonly role: 'owner' | 'member' | 'none' }>>;
}
