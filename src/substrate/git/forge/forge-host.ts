import type { IssueAnswer, PullRequestAnswer, Refused } from '../../ports/forge.ts';

export interface NewPullRequest {
  readonly branch: string;
  readonly base: string;
  /** One line. */
  readonly title: string;
  readonly body: string;
  readonly draft?: boolean;
  readonly reviewers?: readonly string[];
  readonly labels?: readonly string[];
}

/** A host of repositories as squad uses it, through its command line. */
export interface ForgeHost {
  /** The newest pull request of a branch of this repository, open or not. */
  newest(branch: string): Promise<PullRequestAnswer>;
  /** A text: its answer says that it made one. */
  create(of: NewPullRequest): Promise<string | Refused>;
  /** `url`: of a pull request of this repository. A text: its answer says that it wrote it. */
  write(url: string, body: string): Promise<string | Refused>;
  issue(number: number): Promise<IssueAnswer>;
  notUnderstood(text: string): Refused;
}
