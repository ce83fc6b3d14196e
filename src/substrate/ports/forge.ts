export interface PullRequest {
  readonly url: string;
  /** The commit at its head, as the forge sees it. */
  readonly commit: string;
  readonly open: boolean;
}

export type RemoteAnswer =
  | { readonly type: 'found' }
  | { readonly type: 'refused'; readonly why: string; readonly next?: string };

export type PushAnswer =
  | { readonly type: 'pushed' }
  | { readonly type: 'refused'; readonly why: string; readonly next?: string };

export type PullRequestAnswer =
  | { readonly type: 'found'; readonly pullRequest: PullRequest }
  | { readonly type: 'none' }
  | { readonly type: 'refused'; readonly why: string; readonly next?: string };

/**
 * Where finished work is published: a remote of the repository, and the pull requests of its host. What the other side
 * refuses is an answer; nothing here is ever taken from an agent's text.
 */
export interface Forge {
  /** Whether the repository has such a remote. Asks nobody over a network. */
  findRemote(remote: string): Promise<RemoteAnswer>;
  /** Puts `commit` on the remote's branch, never by force over foreign work: only what squad put there itself is moved. */
  push(push: { remote: string; branch: string; commit: string }): Promise<PushAnswer>;
  /** The newest pull request of that branch, open or not. */
  findPullRequest(of: { remote: string; branch: string }): Promise<PullRequestAnswer>;
  /** Opens one, or answers with the open one that is there. */
  openPullRequest(of: {
    remote: string;
    branch: string;
    base: string;
    title: string;
    body: string;
  }): Promise<PullRequestAnswer>;
}
