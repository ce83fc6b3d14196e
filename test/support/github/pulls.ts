import { git } from '../git.ts';
import { mayWrite, restOf, userJson } from './issues.ts';
import { FORBIDDEN, NOT_FOUND, page, type Reply, type Request, type Route } from './route.ts';
import {
  nextId,
  stamp,
  type CheckRun,
  type GithubState,
  type Issue,
  type LineComment,
  type Pull,
  type Review,
} from './state.ts';

/** Pull requests by REST: their comments and reviews, the logs of their jobs, and what runs these again. */
export const pullRoutes: Route = (state, request) => {
  const [kind, ...rest] = restOf(state, request) ?? [];
  if (kind === 'actions') return jobOf(state, request, rest);
  if (kind !== 'pulls') return undefined;
  const pull = state.pulls.get(Number(rest[0]));
  if (pull === undefined) return NOT_FOUND;
  const [, what, id, more] = rest;
  const { method } = request;
  if (what === 'comments' && method === 'GET') return page(pull.lines, request, (one) => lineJson(state, one));
  if (what === 'reviews' && method === 'GET') return page(pull.reviews, request, (one) => reviewJson(state, one));
  if (what === 'comments' && more === 'replies' && method === 'POST') return reply(state, pull, request, Number(id));
  return what === 'merge' && method === 'PUT' ? merge(state, pull, request) : NOT_FOUND;
};

function lineJson(state: GithubState, one: LineComment) {
  const { id, body, path, line, created_at, in_reply_to_id } = one;
  return { id, body, path, line, created_at, in_reply_to_id, user: userJson(state, one.user) };
}

function reviewJson(state: GithubState, { id, body, submitted_at, state: said, user }: Review) {
  return { id, body, submitted_at, state: said, user: userJson(state, user) };
}

function reply(state: GithubState, pull: Pull, { login, body }: Request, to: number): Reply {
  const first = pull.lines.find(({ id, in_reply_to_id }) => id === to && in_reply_to_id === undefined);
  if (first === undefined) return NOT_FOUND;
  const made = addLine(state, pull, { user: login, body: String(body['body']), to });
  return { status: 201, json: lineJson(state, made) };
}

/** An answer to `to`, or a new thread. */
export function addLine(
  state: GithubState,
  pull: Pull,
  {
    user,
    body,
    to,
    path = 'a.txt',
    line = 1,
  }: { user: string; body: string; to?: number; path?: string; line?: number },
): LineComment {
  const at = stamp(state);
  const made: LineComment = {
    ...{ id: nextId(state), user, body, path, line, created_at: at, updated_at: at },
    ...(to === undefined ? {} : { in_reply_to_id: to }),
  };
  pull.lines.push(made);
  touch(state, pull);
  return made;
}

export function addReview(
  state: GithubState,
  pull: Pull,
  { user, body = '', says }: { user: string; body?: string; says: Review['state'] },
): void {
  const commit = headOf(state, pull);
  pull.reviews.push({ id: nextId(state), user, body, state: says, submitted_at: stamp(state), commit });
  touch(state, pull);
  if (says === 'APPROVED' && pull.autoMerge) pull.state = 'MERGED';
}

export function touch(state: GithubState, { number }: Pull): void {
  const issue = state.issues.get(number);
  if (issue !== undefined) issue.updated_at = stamp(state);
}

/** The commit at its head, by the repository that was pushed to. */
export function headOf({ bare }: GithubState, { head, sha }: Pull): string {
  return bare === '' ? sha : git(bare, 'for-each-ref', '--format=%(objectname)', `refs/heads/${head}`);
}

export function addPull(
  state: GithubState,
  of: Pick<Pull, 'head' | 'base' | 'title' | 'body'> & { readonly user: string; readonly isDraft?: boolean },
): Pull {
  const number = Math.max(0, ...state.issues.keys()) + 1;
  const at = stamp(state);
  const { head, base, title, body, user, isDraft = false } = of;
  const issue: Issue = {
    ...{ number, title, body, user, state: 'open', labels: [], comments: [], events: [] },
    ...{ created_at: at, updated_at: at, isPull: true },
  };
  state.issues.set(number, issue);
  const pull: Pull = {
    ...{ number, head, base, title, body, isDraft, state: 'OPEN', isFork: false, sha: 'a'.repeat(40) },
    ...{ mergeState: 'BLOCKED', lines: [], reviews: [], reviewers: [], autoMerge: false },
  };
  state.pulls.set(number, pull);
  return pull;
}

export function addCheck(state: GithubState, of: Pick<CheckRun, 'name' | 'commit'> & Partial<CheckRun>): CheckRun {
  const check: CheckRun = { id: nextId(state), status: 'COMPLETED', conclusion: 'SUCCESS', log: '', ...of };
  state.checks.push(check);
  return check;
}

/** The newest of each name. */
export function checksOf({ checks }: GithubState, commit: string): CheckRun[] {
  return [...new Map(checks.filter((one) => one.commit === commit).map((one) => [one.name, one])).values()];
}

function jobOf(state: GithubState, { method, login, headers }: Request, [kind, id, what]: readonly string[]): Reply {
  const job = kind === 'jobs' ? state.checks.find((one) => String(one.id) === id) : undefined;
  if (job === undefined) return NOT_FOUND;
  if (what === 'logs' && method === 'GET') return part(job.log, headers['range']);
  if (what !== 'rerun' || method !== 'POST') return NOT_FOUND;
  if (!mayWrite(state, login)) return FORBIDDEN;
  if (job.status !== 'COMPLETED') return { status: 403, json: { message: 'This workflow is already running' } };
  rerun(state, job);
  return { status: 201, json: {} };
}

export function rerun(state: GithubState, { name, commit }: CheckRun): void {
  addCheck(state, { name, commit, status: 'IN_PROGRESS', conclusion: null });
}

function part(log: string, range: string | undefined): Reply {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (from === undefined || to === undefined) return { status: 200, text: log };
  const end = Math.min(Number(to), log.length - 1);
  const headers = { 'Content-Range': `bytes ${from}-${end}/${log.length}` };
  return { status: 206, text: log.slice(Number(from), end + 1), headers };
}

function merge(state: GithubState, pull: Pull, { login, body }: Request): Reply {
  if (!mayWrite(state, login)) return FORBIDDEN;
  if (body['sha'] !== headOf(state, pull)) return { status: 409, json: { message: 'Head branch was modified.' } };
  if (pull.mergeState !== 'CLEAN') return { status: 405, json: { message: 'Pull Request is not mergeable' } };
  pull.state = 'MERGED';
  touch(state, pull);
  return { status: 200, json: { merged: true } };
}
