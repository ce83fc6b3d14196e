import { addComment } from '../github/issues.ts';
import { addLine, checksOf, headOf, rerun, touch } from '../github/pulls.ts';
import type { GithubState, LineComment, Pull } from '../github/state.ts';

interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly more?: boolean;
}

const MISSING: Reply = { status: 404, json: { message: '404 Not found' } };
const LEVELS = { admin: 50, maintain: 40, write: 30, triage: 20, read: 10, none: 0 } as const;
const STATUS = {
  CLEAN: 'MERGEABLE',
  BLOCKED: 'NOT_APPROVED',
  BEHIND: 'NEED_REBASE',
  DIRTY: 'CONFLICT',
  UNSTABLE: 'CHECKING',
} as const;

/**
 * Answers `glab api` in the form of GitLab's documents, from the state that the loopback GitHub has. No real GitLab and no real `glab` has been
 * asked.
 */
export function glabRun(state: GithubState, login: string) {
  const requests: string[] = [];
  const run = async (_: string, args: readonly string[]) => {
    const method = args.find((arg) => arg.startsWith('--method='))?.slice('--method='.length) ?? 'GET';
    const [path = '', query = ''] = (args.at(-1) ?? '').split('?');
    requests.push(`${method} ${path}`);
    const fields = new Map(
      args.flatMap((arg) => {
        const [, name = '', text = ''] = /^--raw-field=([^=]+)=([\s\S]*)$/.exec(arg) ?? [];
        return name === '' ? [] : [[name, text] as const];
      }),
    );
    for (const [name, text] of new URLSearchParams(query)) fields.set(name, text);
    const { status, json, text, more } = answer(state, login, {
      method,
      path: path.split('/').map(decodeURIComponent),
      fields,
    });
    const head = [`HTTP/2.0 ${status} X`, ...(more === true ? ['X-Next-Page: 2'] : [])].join('\n');
    return { code: status < 300 ? 0 : 1, stdout: `${head}\n\n${text ?? JSON.stringify(json)}`, stderr: '' };
  };
  return { run, requests };
}

interface Call {
  readonly method: string;
  readonly path: readonly string[];
  readonly fields: ReadonlyMap<string, string>;
}

function answer(state: GithubState, login: string, call: Call): Reply {
  const { method, path, fields } = call;
  if (path[0] === 'user') return { status: 200, json: { username: login } };
  if (path[0] === 'graphql')
    return { status: 200, json: { data: { project: state.isDeleted ? null : project(state, fields) } } };
  if (state.isDeleted || path[1] !== `${state.owner}/${state.name}`) return MISSING;
  const [, , kind, id = '', ...rest] = path;
  if (kind === 'members') return { status: 200, json: members(state, fields.get('query') ?? '') };
  if (kind === 'repository') return { status: 200, json: { name: rest[0], commit: { id: 'b'.repeat(40) } } };
  if (kind === 'jobs') return job(state, method, id, rest[0]);
  const pull = kind === 'merge_requests' ? state.pulls.get(Number(id)) : undefined;
  return pull === undefined ? MISSING : request(state, login, pull, { method, path: rest, fields });
}

function project(state: GithubState, fields: ReadonlyMap<string, string>) {
  const pull = state.pulls.get(Number(fields.get('iid')));
  if (pull === undefined) return { mergeRequest: null };
  const head = headOf(state, pull);
  const issue = state.issues.get(pull.number);
  const said = latest(pull);
  const nodes = checksOf(state, head).map((one) => ({
    ...{
      id: `gid://gitlab/Ci::Build/${one.id}`,
      name: one.name,
      allowFailure: false,
      retryable: one.status === 'COMPLETED',
    },
    status: one.status !== 'COMPLETED' ? 'RUNNING' : one.conclusion === 'SUCCESS' ? 'SUCCESS' : 'FAILED',
  }));
  return {
    mergeRequest: {
      ...{ iid: String(pull.number), draft: pull.isDraft, diffHeadSha: head, targetBranch: pull.base },
      ...{ sourceProjectId: pull.isFork ? 8 : 7, targetProjectId: 7, autoMergeEnabled: pull.autoMerge },
      ...{ updatedAt: issue?.updated_at ?? '', userNotesCount: (issue?.comments.length ?? 0) + pull.lines.length },
      state: pull.state === 'OPEN' ? 'opened' : pull.state.toLowerCase(),
      detailedMergeStatus: STATUS[pull.mergeState],
      approvedBy: { nodes: said.filter(({ state: is }) => is === 'APPROVED').map(({ user }) => ({ username: user })) },
      reviewers: {
        nodes: said.map(({ user, state: is }) => ({
          username: user,
          mergeRequestInteraction: { reviewState: is === 'APPROVED' ? 'APPROVED' : 'REQUESTED_CHANGES' },
        })),
      },
      headPipeline: nodes.length === 0 ? null : { jobs: { nodes } },
    },
  };
}

function latest({ reviews }: Pull) {
  const said = reviews.filter((one) => one.state !== 'COMMENTED');
  return [...new Map(said.map((one) => [one.user, one])).values()];
}

function members(state: GithubState, query: string) {
  const found = [...state.users.values()].filter(
    ({ login, permission }) => login.includes(query) && permission !== 'none',
  );
  return found.map(({ login, permission }) => ({ username: login, access_level: LEVELS[permission], state: 'active' }));
}

function job(state: GithubState, method: string, id: string, what: string | undefined): Reply {
  const found = state.checks.find((one) => String(one.id) === id);
  if (found === undefined) return MISSING;
  if (method === 'GET' && what === 'trace') return { status: 200, text: found.log };
  if (method !== 'POST' || what !== 'retry') return MISSING;
  rerun(state, found);
  return { status: 201, json: { id: state.lastId, name: found.name, status: 'pending' } };
}

function request(state: GithubState, login: string, pull: Pull, { method, path, fields }: Call): Reply {
  const [what, thread] = path;
  const body = fields.get('body') ?? '';
  if (what === 'versions')
    return {
      status: 200,
      json: [{ id: 1, head_commit_sha: headOf(state, pull), created_at: '2026-11-29T05:00:00.000Z' }],
    };
  if (what === 'approvals') {
    const yes = latest(pull).filter((one) => one.state === 'APPROVED' && one.commit === headOf(state, pull));
    const approved_by = yes.map(({ user, submitted_at }) => ({ user: { username: user }, approved_at: submitted_at }));
    return { status: 200, json: { approved_by } };
  }
  if (what === 'discussions' && method === 'GET') return page(threads(state, pull), fields);
  if (what === 'merge' && method === 'PUT') return merge(state, pull, fields);
  if (method !== 'POST') return MISSING;
  if (what === 'discussions') addLine(state, pull, { user: login, body, to: Number(thread?.slice('thread-'.length)) });
  const issue = state.issues.get(pull.number);
  if (what === 'notes' && issue !== undefined) addComment(state, issue, login, body);
  touch(state, pull);
  return { status: 201, json: { id: state.lastId } };
}

/** Notes by their threads; one on the merge request as a whole is a thread of its own. */
function threads(state: GithubState, pull: Pull) {
  const note = ({ id, user, body, created_at }: Pick<LineComment, 'id' | 'user' | 'body' | 'created_at'>) => ({
    ...{ id, body, created_at, system: false, author: { username: user } },
  });
  const lines = pull.lines.filter(({ in_reply_to_id: to }) => to === undefined);
  const written = pull.reviews.filter((one) => one.body !== '' && one.state !== 'APPROVED');
  return [
    ...lines.map((first) => ({
      id: `thread-${first.id}`,
      notes: [
        { ...note(first), position: { new_path: first.path, new_line: first.line, old_line: null } },
        ...pull.lines.filter(({ in_reply_to_id: to }) => to === first.id).map(note),
      ],
    })),
    ...(state.issues.get(pull.number)?.comments ?? []).map((one) => ({ id: `thread-${one.id}`, notes: [note(one)] })),
    ...written.map((one) => ({ id: `thread-${one.id}`, notes: [note({ ...one, created_at: one.submitted_at })] })),
    {
      id: 'thread-0',
      notes: [
        {
          ...note({ id: 1, user: 'ann', body: 'approved this merge request', created_at: '2026-11-29T06:00:00Z' }),
          system: true,
        },
      ],
    },
  ];
}

function page(all: readonly unknown[], fields: ReadonlyMap<string, string>): Reply {
  const [size, number] = [Number(fields.get('per_page') ?? 20), Number(fields.get('page') ?? 1)];
  return { status: 200, json: all.slice((number - 1) * size, number * size), more: all.length > number * size };
}

function merge(state: GithubState, pull: Pull, fields: ReadonlyMap<string, string>): Reply {
  if (fields.get('sha') !== headOf(state, pull))
    return { status: 409, json: { message: 'SHA does not match HEAD of source branch' } };
  pull.autoMerge = fields.get('auto_merge') === 'true';
  return { status: 200, json: {} };
}
