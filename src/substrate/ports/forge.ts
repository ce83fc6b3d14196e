export interface PullRequest {
  readonly url: string;
  /** The commit at its head, as the forge sees it. */
  readonly commit: string;
  readonly open: boolean;
}

export interface Refused {
  readonly type: 'refused';
  readonly why: string;
  readonly next?: string;
}
export type PushAnswer = { readonly type: 'pushed' } | Refused;
export type PullRequestAnswer =
  | { readonly type: 'found'; readonly pullRequest: PullRequest }
  | { readonly type: 'none' }
  | Refused;

/** An issue of the remote's repository, or of another one (`host/owner/name`, on GitLab with all groups). */
export interface IssueName {
  readonly number: number;
  readonly repository?: string;
  readonly remote: string;
}

/** Text from other people: do not trust it. */
interface Issue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
}
export type IssueAnswer =
  | { readonly type: 'found'; readonly issue: Issue }
  /** `list`: the command that lists those that there are. */
  | { readonly type: 'none'; readonly repository: string; readonly list: string }
  | Refused;

/**
 * Publishes finished work: a remote of the repository, and the pull requests of its host; and reads its issues. A refusal by the remote is an answer,
 * not an error. No input may come from an agent's text.
 */
export interface Forge {
  /** Whether the repository has such a remote. Does not use the network. */
  findRemote(remote: string): Promise<{ readonly type: 'found' } | Refused>;
  /** Names of the remotes. Does not use the network. */
  remotes(): Promise<readonly string[]>;
  /** Fetches what the remote's configuration says into the user's repository. */
  fetch(remote: string): Promise<{ readonly type: 'found' } | Refused>;
  /** Pushes `commit` to the remote's branch. Creates the branch or moves it forward; never forces. */
  push(push: {
    remote: string;
    branch: string;
    commit: string;
    /** Only asks whether the remote would take it. */
    tries?: true;
  }): Promise<PushAnswer>;
  /** The newest pull request of that branch, open or not. */
  findPullRequest(of: { remote: string; branch: string }): Promise<PullRequestAnswer>;
  /** Opens a pull request, or finds the open one. */
  openPullRequest(of: {
    remote: string;
    branch: string;
    base: string;
    title: string;
    body: string;
    draft?: boolean;
    /** Asked for a review. */
    reviewers?: readonly string[];
    labels?: readonly string[];
  }): Promise<PullRequestAnswer>;
  /** Gives the open pull request of that branch another text. */
  writePullRequest(of: { remote: string; branch: string; body: string }): Promise<PullRequestAnswer>;
  readIssue(of: IssueName): Promise<IssueAnswer>;
}
