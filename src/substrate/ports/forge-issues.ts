import type { NotDone } from './forge-answer.ts';

export interface ListedIssue {
  readonly number: number;
  readonly labels: readonly string[];
  /** When it changed, as the forge writes that. */
  readonly changed: string;
}

/** An issue as it is now. Its texts are those of other people: do not trust them. Times are epoch ms. */
export interface ForgeIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly isOpen: boolean;
  readonly labels: readonly string[];
  /** Who set the label that was asked for, the last time. Absent: it has no such label, or the forge does not say who. */
  readonly set?: { readonly id: string; readonly by: string; readonly at: number };
  /** When its title or text was changed last. Absent: never. */
  readonly editedAt?: number;
}

export interface ForgeComment {
  readonly id: string;
  /** Its place, for `after`. */
  readonly cursor: string;
  readonly by: string;
  /** At most 4,000 characters of it. */
  readonly body: string;
  /** squad's own login wrote it, and marked it. */
  readonly isOwn: boolean;
}

interface NewComment {
  readonly number: number;
  /** Stands for what it says: hidden in the comment, so that one that was posted is found again. */
  readonly marker: string;
  readonly text: string;
  /** It cannot have been posted before (epoch ms). */
  readonly since: number;
}

/** Comments after this time (epoch ms). */
export function commentsSince(at: number): string {
  return `${new Date(at).toISOString()}/0`;
}

type Answer<Value> = Value | NotDone;
type ListAnswer = Answer<
  | { readonly type: 'listed'; readonly issues: readonly ListedIssue[]; readonly etag?: string }
  /** As at `etag`. */
  | { readonly type: 'same' }
>;

/** The issues of one repository on a forge, with the person's login. Nothing throws for what the forge or the network answer. */
export interface ForgeIssues {
  /** `host/owner/name`. */
  readonly place: string;
  /** The open ones that have the label. */
  list(of: { readonly label: string; readonly etag?: string | undefined }): Promise<ListAnswer>;
  read(of: {
    readonly number: number;
    readonly label: string;
  }): Promise<Answer<{ readonly type: 'found'; readonly issue: ForgeIssue }>>;
  /** The rights of a person in the repository now. */
  roleOf(login: string): Promise<Answer<{ readonly type: 'role'; readonly role: 'owner' | 'member' | 'none' }>>;
  /** Those after `after`, oldest first, 1,000 at most. */
  comments(of: {
    readonly number: number;
    readonly after: string;
  }): Promise<Answer<{ readonly type: 'comments'; readonly comments: readonly ForgeComment[] }>>;
  /** Posts it, or finds the one that has its marker. */
  post(comment: NewComment): Promise<Answer<{ readonly type: 'posted'; readonly id: string }>>;
  edit(comment: Omit<NewComment, 'since'> & { readonly id: string }): Promise<Answer<{ readonly type: 'edited' }>>;
  /** Sets one label, and takes others away. */
  relabel(of: {
    readonly number: number;
    readonly set: string;
    readonly remove: readonly string[];
  }): Promise<Answer<{ readonly type: 'labelled' }>>;
}
