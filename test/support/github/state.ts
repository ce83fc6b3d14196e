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
}

/** One of the API's own kind; what it holds is for the routes of pull requests to say. */
export interface GithubState {
  readonly owner: string;
  readonly name: string;
  readonly users: Map<string, User>;
  /** By its token. */
  readonly tokens: Map<string, string>;
  readonly issues: Map<number, Issue>;
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
