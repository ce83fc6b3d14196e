import { git } from '../git.ts';
import { mayWrite } from './issues.ts';
import { addPull, checksOf, headOf } from './pulls.ts';
import type { Reply, Request, Route } from './route.ts';
import { stamp, type GithubState, type Pull } from './state.ts';

type Variables = Readonly<Record<string, unknown>>;
type Ask = (state: GithubState, variables: Variables, request: Request) => unknown;

/** The queries about pull requests of squad, and of `gh pr list` and `gh pr create`: by a word of each. */
const ASKS: readonly (readonly [word: string, ask: Ask])[] = [
  ['PullRequestList', (state, { headBranch }) => listed(state, (one) => one.head === headBranch)],
  [
    'PullRequestForBranch',
    (state, { headRefName }) => listed(state, (one) => one.head === headRefName && one.state === 'OPEN'),
  ],
  ['RepositoryInfo', (state) => ({ repository: aboutRepository(state) })],
  ['mutation PullRequestCreate(', (state, variables, { login }) => created(state, variables, login)],
  ['RepositoryResolveMetadataIDs', (state, _, { body }) => resolved(state, String(body['query']))],
  ['mutation PullRequestCreateMetadata(', (state, variables) => updated(state, variables)],
  ['mutation PullRequestCreateRequestReviews', (state, variables) => asked(state, variables)],
  ['viewerDefaultMergeMethod', (state, variables) => withPull(state, variables, mergeNode)],
  ['latestOpinionatedReviews', (state, variables) => withPull(state, variables, (pull) => pullNode(state, pull))],
  ['enablePullRequestAutoMerge', (state, variables) => autoMerge(state, variables)],
];

export const pullQueries: Route = (state, request) => {
  const { path, body } = request;
  if (path !== 'graphql') return undefined;
  const { query = '', variables = {} } = body as { query?: string; variables?: Variables };
  const [, ask] = ASKS.find(([word]) => query.includes(word)) ?? [];
  if (ask === undefined) return undefined;
  const data = ask(state, variables, request);
  return data instanceof Error ? failed(data.message) : { status: 200, json: { data } };
};

function failed(message: string): Reply {
  const type = message.startsWith('Could not resolve') ? 'NOT_FOUND' : 'UNPROCESSABLE';
  return { status: 200, json: { data: null, errors: [{ type, message }] } };
}

function nodes(all: readonly unknown[]) {
  return { totalCount: all.length, nodes: all, pageInfo: { hasNextPage: false, endCursor: null } };
}

function listed(state: GithubState, fits: (pull: Pull) => boolean) {
  const found = [...state.pulls.values()].filter(fits).toSorted((a, b) => b.number - a.number);
  const shown = found.map((pull) => ({
    ...{ number: pull.number, state: pull.state, url: urlOf(state, pull) },
    ...{ headRefOid: headOf(state, pull), isCrossRepository: pull.isFork, id: `PR_${pull.number}` },
    ...{ headRefName: pull.head, baseRefName: pull.base, headRepositoryOwner: { id: 'U_1', login: state.owner } },
  }));
  return { repository: { pullRequests: nodes(shown) } };
}

function urlOf({ owner, name }: GithubState, { number }: Pull): string {
  return `https://github.com/${owner}/${name}/pull/${number}`;
}

function aboutRepository({ owner, name }: GithubState) {
  const flags = { hasIssuesEnabled: true, hasWikiEnabled: false, viewerPermission: 'WRITE', parent: null };
  const merges = { mergeCommitAllowed: true, rebaseMergeAllowed: true, squashMergeAllowed: true };
  return {
    id: 'R_1',
    name,
    owner: { login: owner },
    description: '',
    defaultBranchRef: { name: 'main' },
    ...flags,
    ...merges,
  };
}

function created(state: GithubState, { input }: Variables, user: string): unknown {
  const { headRefName: head, baseRefName: base, title, body, draft } = input as Record<string, string | boolean>;
  if (!mayWrite(state, user)) return new Error('Resource not accessible by personal access token');
  const open = [...state.pulls.values()].some((one) => one.head === head && one.state === 'OPEN');
  if (open) return new Error(`A pull request already exists for ${state.owner}:${head}.`);
  const texts = { head: String(head), base: String(base), title: String(title), body: String(body) };
  const pull = addPull(state, { ...texts, user, isDraft: draft === true });
  return { createPullRequest: { pullRequest: { id: `PR_${pull.number}`, url: urlOf(state, pull) } } };
}

/** By the short names that `gh` gives each person and label. */
function resolved({ users, labels }: GithubState, query: string): unknown {
  const found = (field: string, key: string, has: (name: string) => boolean) =>
    [...query.matchAll(new RegExp(`(\\w+): ${field}\\(${key}:"([^"]*)"\\)`, 'g'))].map(
      ([, short = '', name = '']) => [short, has(name) ? { id: name, login: name, name } : null] as const,
    );
  const repository = Object.fromEntries(found('label', 'name', (name) => labels.has(name)));
  return { ...Object.fromEntries(found('user', 'login', (name) => users.has(name))), repository };
}

function pullBy(state: GithubState, id: unknown): Pull | undefined {
  return state.pulls.get(Number(String(id).replace('PR_', '')));
}

function updated(state: GithubState, { input }: Variables) {
  const { pullRequestId, labelIds = [] } = input as { pullRequestId: string; labelIds?: string[] };
  const issue = state.issues.get(pullBy(state, pullRequestId)?.number ?? 0);
  issue?.labels.push(...labelIds);
  return { updatePullRequest: { clientMutationId: '' } };
}

function asked(state: GithubState, { input }: Variables) {
  const { pullRequestId, userIds = [] } = input as { pullRequestId: string; userIds?: string[] };
  pullBy(state, pullRequestId)?.reviewers.push(...userIds);
  return { requestReviews: { clientMutationId: '' } };
}

function withPull(state: GithubState, { number }: Variables, node: (pull: Pull) => unknown): unknown {
  const pull = state.pulls.get(Number(number));
  if (pull === undefined) return new Error(`Could not resolve to a PullRequest with the number of ${String(number)}.`);
  return { repository: { viewerDefaultMergeMethod: 'SQUASH', pullRequest: node(pull) } };
}

function mergeNode({ number, mergeState }: Pull) {
  return { id: `PR_${number}`, mergeStateStatus: mergeState };
}

function pullNode(state: GithubState, pull: Pull) {
  const commit = headOf(state, pull);
  const base = state.bare === '' ? 'b'.repeat(40) : git(state.bare, 'rev-parse', `refs/heads/${pull.base}`);
  const checks = checksOf(state, commit).map(({ id, name, status, conclusion }) => ({
    ...{ __typename: 'CheckRun', databaseId: id, name, status, conclusion },
    checkSuite: { app: { slug: 'github-actions' }, workflowRun: { workflow: { name: 'CI' } } },
  }));
  const said = pull.reviews.filter((one) => one.state !== 'COMMENTED');
  const latest = [...new Map(said.map((one) => [one.user, one])).values()];
  return {
    ...{ number: pull.number, state: pull.state, isDraft: pull.isDraft, headRefOid: commit, baseRefName: pull.base },
    ...{ isCrossRepository: pull.isFork, mergeStateStatus: pull.mergeState },
    updatedAt: state.issues.get(pull.number)?.updated_at ?? stamp(state),
    baseRef: { target: { oid: base } },
    autoMergeRequest: pull.autoMerge ? { enabledAt: stamp(state) } : null,
    latestOpinionatedReviews: {
      nodes: latest.map((one) => ({ author: { login: one.user }, state: one.state, commit: { oid: one.commit } })),
    },
    commits: {
      nodes: [{ commit: { statusCheckRollup: checks.length === 0 ? null : { contexts: { nodes: checks } } } }],
    },
  };
}

function autoMerge(state: GithubState, { id, head }: Variables): unknown {
  const pull = pullBy(state, id);
  if (pull === undefined) return new Error('Could not resolve to a node');
  if (headOf(state, pull) !== head) return new Error('The head has moved');
  if (pull.mergeState === 'CLEAN') return new Error('Pull request is in clean status');
  pull.autoMerge = true;
  return { enablePullRequestAutoMerge: { clientMutationId: null } };
}
