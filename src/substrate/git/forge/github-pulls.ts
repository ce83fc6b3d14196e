import { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import type { NotDone } from '../../ports/forge-answer.ts';
import type { ForgePulls, Pull } from '../../ports/forge-pulls.ts';
import type { Refused } from '../../ports/forge.ts';
import { readValue as value, type ApiAnswer } from './api-answer.ts';
import { githubApi, type CallApi } from './gh-api.ts';
import { ownLogin, roleOf } from './github-people.ts';
import { graphqlAnswer } from './graphql-answer.ts';
import { checkOf, checkSchema, logOf } from './github-checks.ts';
import { pullComments } from './github-pull-comments.ts';
import { markedText } from './own-comment.ts';
import { forgePlace, refused, type ForgePorts } from './remotes.ts';

/** All that a look needs but comments, in one request: an hour without news costs as many requests as it has looks. */
const QUERY = `query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){pullRequest(number:$number){
number state isDraft headRefOid baseRefName isCrossRepository updatedAt mergeStateStatus baseRef{target{oid}} autoMergeRequest{enabledAt}
latestOpinionatedReviews(last:100){nodes{author{login} state commit{oid}}}
commits(last:1){nodes{commit{statusCheckRollup{contexts(first:100){nodes{__typename
... on CheckRun{databaseId name status conclusion checkSuite{app{slug} workflowRun{workflow{name}}}}
... on StatusContext{id context state}}}}}}}}}}`;
const MERGE_QUERY = `query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){viewerDefaultMergeMethod
pullRequest(number:$number){id mergeStateStatus}}}`;
const MERGE = `mutation($id:ID!,$head:GitObjectID!,$method:PullRequestMergeMethod!){enablePullRequestAutoMerge(
input:{pullRequestId:$id,expectedHeadOid:$head,mergeMethod:$method}){clientMutationId}}`;

const oid = z.object({ oid: z.string() });
const pullSchema = z.object({
  ...{ number: z.int(), state: z.enum(['OPEN', 'MERGED', 'CLOSED']), isDraft: z.boolean(), headRefOid: z.string() },
  ...{ baseRefName: z.string(), isCrossRepository: z.boolean(), updatedAt: z.string(), mergeStateStatus: z.string() },
  /** null: the branch is gone. */
  baseRef: z.object({ target: oid }).nullable(),
  autoMergeRequest: z.object({}).nullable(),
  latestOpinionatedReviews: z.object({
    nodes: z.array(
      z.object({ author: z.object({ login: z.string() }).nullable(), state: z.string(), commit: oid.nullable() }),
    ),
  }),
  commits: z.object({
    nodes: z.array(
      z.object({
        commit: z.object({
          statusCheckRollup: z.object({ contexts: z.object({ nodes: z.array(checkSchema) }) }).nullable(),
        }),
      }),
    ),
  }),
});
const foundSchema = z.object({ data: z.object({ repository: z.object({ pullRequest: pullSchema }) }) });
const mergeSchema = z.object({
  data: z.object({
    repository: z.object({
      viewerDefaultMergeMethod: z.enum(['MERGE', 'SQUASH', 'REBASE']),
      pullRequest: z.object({ id: z.string(), mergeStateStatus: z.string() }),
    }),
  }),
});

/** The pull requests of the repository at `url` on GitHub, through `gh api`. */
export async function githubPulls(ports: ForgePorts, url: string): Promise<ForgePulls | Refused> {
  const call = await githubApi(ports, url);
  if (typeof call !== 'function') return call;
  const [owner = '', name = ''] = (forgePlace(url)?.path ?? '').split('/');
  const self = ownLogin(call);
  const query: Query = async (text, fields) =>
    graphqlAnswer(await call({ method: 'POST', path: '/graphql', fields: { query: text, ...fields } }));
  return {
    read: async (number) =>
      value(await query(QUERY, { owner, name, number }), foundSchema, ({ data }) => ({
        type: 'pull',
        pull: pullOf(data.repository.pullRequest),
      })),
    comments: async (number) => pullComments(call, self, number),
    log: async (check) => logOf(call, check),
    repeat: async ({ id }) => {
      const answer = await call({ method: 'POST', path: `actions/jobs/${id}/rerun` });
      return answer.type === 'ok' ? { type: 'repeats' } : notDone(answer);
    },
    answer: async ({ number, comment, marker, text }) => {
      const path =
        comment.on === 'line' ? `pulls/${number}/comments/${comment.thread}/replies` : `issues/${number}/comments`;
      const answer = await call({ method: 'POST', path, fields: { body: markedText(marker, text) }, jq: '{id}' });
      return value(answer, z.object({ id: z.int() }), () => ({ type: 'answered' }));
    },
    askMerge: async ({ number, head }) => {
      const found = value(await query(MERGE_QUERY, { owner, name, number }), mergeSchema, ({ data }) => ({
        type: 'found' as const,
        ...{ method: data.repository.viewerDefaultMergeMethod, ...data.repository.pullRequest },
      }));
      if (found.type !== 'found') return found;
      return merged(call, query, { ...found, number, head });
    },
    roleOf: async (login) => roleOf(call, login),
  };
}

type Query = (text: string, fields: Readonly<Record<string, string | number>>) => Promise<ApiAnswer>;

function notDone(answer: Exclude<ApiAnswer, { type: 'ok' }>): NotDone {
  return answer.type === 'same' ? refused('the forge says that nothing has changed, and was not asked that') : answer;
}

const STATES = { OPEN: 'open', MERGED: 'merged', CLOSED: 'closed' } as const;
const MERGES: Readonly<Record<string, Pull['merge']>> = { BEHIND: 'behind', DIRTY: 'conflict' };

function pullOf(read: z.infer<typeof pullSchema>): Pull {
  const { number, isDraft, headRefOid, baseRef, baseRefName, isCrossRepository, updatedAt } = read;
  const contexts = read.commits.nodes.at(-1)?.commit.statusCheckRollup?.contexts.nodes ?? [];
  const says: Readonly<Record<string, 'approved' | 'changes'>> = { APPROVED: 'approved', CHANGES_REQUESTED: 'changes' };
  return {
    ...{ number, isDraft, head: headRefOid, base: baseRefName, isFork: isCrossRepository, changed: updatedAt },
    state: STATES[read.state],
    baseHead: baseRef?.target.oid ?? '',
    // Without its base nothing can be merged into it.
    merge: baseRef === null ? 'other' : (MERGES[read.mergeStateStatus] ?? 'other'),
    mergesItself: read.autoMergeRequest !== null,
    checks: contexts.map(checkOf),
    approvals: read.latestOpinionatedReviews.nodes.flatMap(({ author, state, commit }) => {
      const one = says[state];
      return one === undefined || author === null ? [] : [{ by: author.login, says: one, commit: commit?.oid ?? '' }];
    }),
  };
}

interface ToMerge {
  readonly number: number;
  readonly head: string;
  readonly id: string;
  readonly method: 'MERGE' | 'SQUASH' | 'REBASE';
  readonly mergeStateStatus: string;
}

/**
 * GitHub has no auto-merge for what may be merged at once. By that call alone a person who may change the rules could pass them, so it is made
 * only where GitHub says that they are met.
 */
async function merged(
  call: CallApi,
  query: Query,
  { number, head, id, method, mergeStateStatus }: ToMerge,
): ReturnType<ForgePulls['askMerge']> {
  const answer = ['CLEAN', 'HAS_HOOKS'].includes(mergeStateStatus)
    ? await call({
        ...{ method: 'PUT', path: `pulls/${number}/merge`, jq: '{merged}' },
        fields: defined({ sha: head, merge_method: method.toLowerCase() }),
      })
    : await query(MERGE, { id, head, method });
  return answer.type === 'ok' ? { type: 'asked' } : notDone(answer);
}
