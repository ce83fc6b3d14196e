import { FORBIDDEN, NOT_FOUND, page, type Reply, type Request, type Route } from './route.ts';
import { nextId, stamp, type Comment, type GithubState, type Issue, type LabelEvent } from './state.ts';

const LONGEST_BODY = 65_536;

/** Issues, their labels, events and comments, and who may write. */
export const issueRoutes: Route = (state, request) => {
  const rest = restOf(state, request);
  if (rest === undefined) return undefined;
  const [kind, ...more] = rest;
  if (kind === 'collaborators') return permissionOf(state, more);
  if (kind === 'labels') return labelsOf(state, request);
  if (kind !== 'issues') return undefined;
  if (more.length === 0) return listIssues(state, request);
  if (more[0] === 'comments') return oneComment(state, request, Number(more[1]));
  const issue = state.issues.get(Number(more[0]));
  if (issue === undefined) return NOT_FOUND;
  return ofIssue(state, request, issue, more.slice(1));
};

/** The path below the repository. */
export function restOf({ owner, name }: GithubState, { path }: Request): string[] | undefined {
  const prefix = `repos/${owner}/${name}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length).split('/').map(decodeURIComponent) : undefined;
}

export function mayWrite(state: GithubState, login: string): boolean {
  return ['admin', 'maintain', 'write', 'triage'].includes(state.users.get(login)?.permission ?? 'none');
}

export function userJson(state: GithubState, login: string) {
  const user = state.users.get(login);
  return { login, id: user?.id ?? 0, type: user?.type ?? 'User' };
}

function permissionOf(state: GithubState, [login = '', what]: readonly string[]): Reply {
  const user = state.users.get(login);
  if (user === undefined || what !== 'permission') return NOT_FOUND;
  // GitHub's older names: maintain is said to be write, triage as read.
  const old = { maintain: 'write', triage: 'read' } as Record<string, string>;
  const { permission } = user;
  return {
    status: 200,
    json: { permission: old[permission] ?? permission, role_name: permission, user: userJson(state, login) },
  };
}

function labelsOf(state: GithubState, { method, body, login }: Request): Reply {
  if (method !== 'POST') return NOT_FOUND;
  if (!mayWrite(state, login)) return FORBIDDEN;
  const name = String(body['name']);
  if (state.labels.has(name))
    return { status: 422, json: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] } };
  state.labels.add(name);
  return { status: 201, json: { name } };
}

function listIssues(state: GithubState, request: Request): Reply {
  const { query } = request;
  const labels = (query.get('labels') ?? '').split(',').filter((label) => label !== '');
  const wanted = query.get('state') ?? 'open';
  const found = [...state.issues.values()]
    .filter((issue) => wanted === 'all' || issue.state === wanted)
    .filter((issue) => labels.every((label) => issue.labels.some((one) => one.toLowerCase() === label.toLowerCase())))
    .toSorted((a, b) => (query.get('direction') === 'asc' ? a.number - b.number : b.number - a.number));
  return page(found, request, (issue) => issueJson(state, issue));
}

function issueJson(state: GithubState, issue: Issue) {
  const { number, title, body, labels, created_at, updated_at } = issue;
  return {
    ...{ number, title, body, state: issue.state, created_at, updated_at, comments: issue.comments.length },
    html_url: `https://github.com/${state.owner}/${state.name}/issues/${number}`,
    user: userJson(state, issue.user),
    labels: labels.map((name) => ({ name })),
    ...(issue.isPull === true ? { pull_request: {} } : {}),
  };
}

function commentJson(state: GithubState, comment: Comment) {
  const { id, body, created_at, updated_at, user } = comment;
  return { id, body, created_at, updated_at, user: userJson(state, user), author_association: 'NONE' };
}

function ofIssue(state: GithubState, request: Request, issue: Issue, [what, name]: readonly string[]): Reply {
  const { method, login, body } = request;
  if (what === undefined) {
    if (method === 'GET') return { status: 200, json: issueJson(state, issue) };
    if (!mayWrite(state, login)) return FORBIDDEN;
    if (body['state'] === 'closed' || body['state'] === 'open') issue.state = body['state'];
    return { status: 200, json: issueJson(state, issue) };
  }
  if (what === 'events') return page(issue.events, request, (event) => eventJson(state, event));
  if (what === 'comments') {
    if (method === 'POST') return addComment(state, issue, login, body['body']);
    const since = request.query.get('since') ?? '';
    const found = issue.comments.filter(({ updated_at }) => updated_at >= since);
    return page(found, request, (comment) => commentJson(state, comment));
  }
  if (what !== 'labels') return NOT_FOUND;
  if (!mayWrite(state, login)) return FORBIDDEN;
  if (method === 'DELETE') {
    if (!issue.labels.includes(name ?? '')) return NOT_FOUND;
    setLabel(state, issue, { label: name ?? '', actor: login, on: false });
  } else {
    for (const label of body['labels'] as string[]) setLabel(state, issue, { label, actor: login, on: true });
  }
  return { status: 200, json: issue.labels.map((label) => ({ name: label })) };
}

function eventJson(state: GithubState, { id, event, actor, label, created_at }: LabelEvent) {
  return { id, event, created_at, actor: userJson(state, actor), label: { name: label } };
}

/** Sets a label or takes it away; once it is so, nothing happens. */
export function setLabel(
  state: GithubState,
  issue: Issue,
  { label, actor, on }: { readonly label: string; readonly actor: string; readonly on: boolean },
): void {
  if (issue.labels.includes(label) === on) return;
  issue.labels = on ? [...issue.labels, label] : issue.labels.filter((one) => one !== label);
  const event = on ? ('labeled' as const) : ('unlabeled' as const);
  issue.events.push({ id: nextId(state), event, actor, label, created_at: stamp(state) });
  issue.updated_at = stamp(state);
}

export function addComment(state: GithubState, issue: Issue, user: string, body: unknown): Reply {
  if (typeof body !== 'string' || body === '' || body.length > LONGEST_BODY)
    return { status: 422, json: { message: 'Validation Failed' } };
  const at = stamp(state);
  const comment = { id: nextId(state), user, body, created_at: at, updated_at: at };
  issue.comments.push(comment);
  issue.updated_at = at;
  return { status: 201, json: commentJson(state, comment) };
}

function oneComment(state: GithubState, { method, body, login }: Request, id: number): Reply {
  const comment = [...state.issues.values()].flatMap(({ comments }) => comments).find((one) => one.id === id);
  if (comment === undefined) return NOT_FOUND;
  if (method === 'GET') return { status: 200, json: commentJson(state, comment) };
  if (method !== 'PATCH') return NOT_FOUND;
  if (comment.user !== login && !mayWrite(state, login)) return FORBIDDEN;
  comment.body = String(body['body']);
  comment.updated_at = stamp(state);
  return { status: 200, json: commentJson(state, comment) };
}
