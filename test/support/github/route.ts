import type { GithubState } from './state.ts';

export interface Request {
  readonly method: string;
  /** Below the root of the API, without `?…`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** JSON of the body; `{}`: none. */
  readonly body: Record<string, unknown>;
  /** Who asks, by the token. */
  readonly login: string;
  readonly headers: { readonly range?: string | undefined };
}

export interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers a request of its part of the API; undefined: it is another part's. */
export type Route = (state: GithubState, request: Request) => Reply | undefined;

export const NOT_FOUND: Reply = { status: 404, json: { message: 'Not Found' } };
export const FORBIDDEN: Reply = { status: 403, json: { message: 'Resource not accessible by personal access token' } };

/** One page of a list, with a `Link` to the next. */
export function page<T>(items: readonly T[], { path, query }: Request, toJson: (item: T) => unknown): Reply {
  const size = Math.min(Number(query.get('per_page') ?? 30), 100);
  const number = Number(query.get('page') ?? 1);
  const next = new URLSearchParams(query);
  next.set('page', String(number + 1));
  const isLast = number * size >= items.length;
  const link = isLast ? {} : { Link: `<https://api.github.com/${path}?${next}>; rel="next"` };
  return { status: 200, json: items.slice((number - 1) * size, number * size).map(toJson), headers: link };
}
