/** A person or an application that GitHub knows. */
export interface User {
  readonly login: string;
  readonly id: number;
  readonly permission: 'admin' | 'maintain' | 'write' | 'triage' | 'read' | 'none';
  readonly type?: 'User' | 'Bot';
}

export interface Comment {
  readonly id: number;
  readonly user: string;
  body: string;
  readonly created_at: string;
  updated_at: string;
}

/** An entry of an issue's events: a label set or taken away. */
export interface LabelEvent {
  readonly id: number;
  readonly event: 'labeled' | 'unlabeled';
  readonly actor: string;
  readonly label: string;
  readonly created_at: string;
}

export interface Issue {
  readonly number: number;
  title: string;
  body: string;
  readonly user: string;
  state: 'open' | 'closed';
  labels: string[];
  readonly comments: Comment[];
  readonly events: LabelEvent[];
  readonly created_at: string;
  updated_at: string;
  /** When its text was changed last. */
  edited_at?: string;
  /** It is the conversation of a pull request. */
  readonly isPull?: true;
}

/** A comment on a line of a pull request. */
export interface LineComment extends Comment {
  readonly path: string;
  readonly line: number;
  /** The first comment of its thread. */
  readonly in_reply_to_id?: number;
}

export interface Review {
  readonly id: number;
  readonly user: string;
  readonly body: string;
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED';
  readonly submitted_at: string;
  readonly commit: string;
}

/** Its comments, its labels and when it changed are those of the issue of its number. */
export interface Pull {
  readonly number: number;
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  isDraft: boolean;
  state: 'OPEN' | 'MERGED' | 'CLOSED';
  isFork: boolean;
  /** The commit at its head, where no repository says it. */
  sha: string;
  /** As GitHub would say it. */
  mergeState: 'CLEAN' | 'BLOCKED' | 'BEHIND' | 'DIRTY' | 'UNSTABLE';
  readonly lines: LineComment[];
  readonly reviews: Review[];
  readonly reviewers: string[];
  /** Its auto-merge was asked for. */
  autoMerge: boolean;
}

/** A job of a workflow. */
export interface CheckRun {
  readonly id: number;
  readonly name: string;
  readonly commit: string;
  status: 'IN_PROGRESS' | 'COMPLETED';
  conclusion: 'SUCCESS' | 'FAILURE' | null;
  log: string;
}

/** One of the API's own kind; what it holds is for the routes of pull requests to say. */
export interface GithubState {
  readonly owner: string;
  readonly name: string;
  readonly users: Map<string, User>;
  /** By its token. */
  readonly tokens: Map<string, string>;
  readonly issues: Map<number, Issue>;
  readonly pulls: Map<number, Pull>;
  /** The newest of a name counts. */
  readonly checks: CheckRun[];
  /** Labels of the repository. */
  readonly labels: Set<string>;
  /** The bare repository that is pushed to; empty: none. */
  bare: string;
  /** Gone: 404 for everything. */
  isDeleted: boolean;
  lastId: number;
  /** Epoch ms of GitHub's clock. */
  now: () => number;
}

export function emptyState(owner: string, name: string): GithubState {
  return {
    owner,
    name,
    users: new Map(),
    tokens: new Map(),
    issues: new Map(),
    pulls: new Map(),
    checks: [],
    labels: new Set(),
    bare: '',
    isDeleted: false,
    lastId: 1_000,
    now: () => Date.now(),
  };
}

export function nextId(state: GithubState): number {
  state.lastId += 1;
  return state.lastId;
}

/** As GitHub writes it: whole seconds. */
export function stamp(state: GithubState): string {
  return `${new Date(state.now()).toISOString().slice(0, 19)}Z`;
}
