import { z } from 'zod';
import { isNotDone, type NotDone } from '../../ports/forge-answer.ts';
import type { Check, ForgePulls, Pull } from '../../ports/forge-pulls.ts';
import type { Refused } from '../../ports/forge.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';
import { gitlabApi } from './glab-api.ts';
import { discussionsOf } from './gitlab-discussions.ts';
import { gitlabRole, ownName } from './gitlab-people.ts';
import { graphqlAnswer } from './graphql-answer.ts';
import { markedText } from './own-comment.ts';
import type { ForgePlace, ForgePorts } from './remotes.ts';

/** All of a look but the commit of its base; a pipeline of an older commit is not its head’s. */
const QUERY = `query($path:ID!,$iid:String!){project(fullPath:$path){mergeRequest(iid:$iid){
iid state draft diffHeadSha targetBranch sourceProjectId targetProjectId detailedMergeStatus autoMergeEnabled updatedAt userNotesCount
approvedBy(first:100){nodes{username}}
reviewers(first:100){nodes{username mergeRequestInteraction{reviewState}}}
headPipeline{jobs(first:100,retried:false){nodes{id name status allowFailure retryable}}}}}}`;
const STATUS_QUERY = `query($path:ID!,$iid:String!){project(fullPath:$path){mergeRequest(iid:$iid){detailedMergeStatus}}}`;

const names = z.object({ username: z.string() });
const jobSchema = z.object({
  ...{ id: z.string(), name: z.string(), status: z.string() },
  ...{ allowFailure: z.boolean(), retryable: z.boolean() },
});
const pullSchema = z.object({
  ...{ iid: z.string(), state: z.string(), draft: z.boolean(), diffHeadSha: z.string().nullable() },
  ...{ targetBranch: z.string(), sourceProjectId: z.int().nullable(), targetProjectId: z.int() },
  ...{ detailedMergeStatus: z.string().nullable(), autoMergeEnabled: z.boolean() },
  ...{ updatedAt: z.string(), userNotesCount: z.int().nullable() },
  approvedBy: z.object({ nodes: z.array(names) }).nullable(),
  reviewers: z
    .object({
      nodes: z.array(
        names.extend({ mergeRequestInteraction: z.object({ reviewState: z.string().nullish() }).nullish() }),
      ),
    })
    .nullable(),
  headPipeline: z.object({ jobs: z.object({ nodes: z.array(jobSchema) }).nullable() }).nullable(),
});
type Read = z.infer<typeof pullSchema>;

function foundSchema<Found>(found: z.ZodType<Found>) {
  return z.object({ data: z.object({ project: z.object({ mergeRequest: found.nullable() }).nullable() }) });
}

/** The merge requests of a project on GitLab, through `glab api`, as its documents describe that. */
export async function gitlabPulls(ports: ForgePorts, place: ForgePlace): Promise<ForgePulls | Refused> {
  const call = await gitlabApi(ports, place);
  if (typeof call !== 'function') return call;
  const ask = async <Found>(query: string, iid: number, schema: z.ZodType<Found>) => {
    const fields = { query, path: place.path, iid: String(iid) };
    const answer = graphqlAnswer(await call({ method: 'POST', path: '/graphql', fields }));
    const read = value(answer, foundSchema(schema), ({ data }) => ({
      type: 'read',
      found: data.project?.mergeRequest,
    }));
    if (read.type !== 'read') return read;
    return read.found === null || read.found === undefined ? GONE : { type: 'read' as const, found: read.found };
  };
  const self = ownName(call);
  return {
    read: async (number) => {
      const read = await ask(QUERY, number, pullSchema);
      return read.type === 'read' ? pullOf(call, read.found) : read;
    },
    comments: async (number) => discussionsOf(call, self, number),
    log: async (check) => logOf(call, check),
    repeat: async ({ id }) => {
      const answer = await call({ method: 'POST', path: `jobs/${id}/retry` });
      return value(answer, z.object({ id: z.int() }), () => ({ type: 'repeats' }));
    },
    answer: async ({ number, comment: { thread }, marker, text }) => {
      const below = `merge_requests/${number}`;
      const path = thread === '' ? `${below}/notes` : `${below}/discussions/${thread}/notes`;
      const answer = await call({ method: 'POST', path, fields: { body: markedText(marker, text) } });
      return value(answer, z.object({ id: z.int() }), () => ({ type: 'answered' }));
    },
    askMerge: async ({ number, head }) => {
      const read = await ask(STATUS_QUERY, number, z.object({ detailedMergeStatus: z.string().nullable() }));
      if (read.type !== 'read') return read;
      // A refusal is final for this commit, and these end by themselves.
      if (UNSETTLED.includes(read.found.detailedMergeStatus ?? 'UNCHECKED'))
        return { type: 'later', why: 'GitLab still checks whether it can be merged', afterMs: 60_000 };
      // Older versions know the second name alone. Neither passes what the project demands.
      const fields = { sha: head, auto_merge: true, merge_when_pipeline_succeeds: true };
      const answer = await call({ method: 'PUT', path: `merge_requests/${number}/merge`, fields });
      return value(answer, z.object({}), () => ({ type: 'asked' }));
    },
    roleOf: async (login) => gitlabRole(call, login),
  };
}

const GONE: NotDone = { type: 'gone', why: 'there is no such merge request' };
const MOST_LOG = 1_000_000;
const UNSETTLED = ['UNCHECKED', 'CHECKING', 'PREPARING', 'APPROVALS_SYNCING'];
const STATES: Readonly<Record<string, Pull['state']>> = { opened: 'open', locked: 'open', merged: 'merged' };
const MERGES: Readonly<Record<string, Pull['merge']>> = { NEED_REBASE: 'behind', CONFLICT: 'conflict' };

async function pullOf(call: CallApi, read: Read): Promise<{ readonly type: 'pull'; readonly pull: Pull } | NotDone> {
  const { iid, draft, targetBranch, sourceProjectId, targetProjectId, updatedAt, userNotesCount } = read;
  const head = read.diffHeadSha ?? '';
  const base = await call({ path: `repository/branches/${encodeURIComponent(targetBranch)}` });
  const found = value(base, z.object({ commit: z.object({ id: z.string() }) }), ({ commit }) => ({
    type: 'base',
    id: commit.id,
  }));
  // Without its base nothing can be merged into it.
  if (found.type !== 'base' && found.type !== 'gone') return found;
  const approvals = await approvalsOf(call, read, head);
  if ('type' in approvals) return approvals;
  return {
    type: 'pull',
    pull: {
      ...{ number: Number(iid), isDraft: draft, head, base: targetBranch, mergesItself: read.autoMergeEnabled },
      isFork: sourceProjectId !== targetProjectId,
      state: STATES[read.state] ?? 'closed',
      baseHead: found.type === 'base' ? found.id : '',
      merge: found.type === 'base' ? (MERGES[read.detailedMergeStatus ?? ''] ?? 'other') : 'other',
      checks: (read.headPipeline?.jobs?.nodes ?? []).map(checkOf),
      approvals,
      changed: `${updatedAt}/${userNotesCount ?? 0}`,
    },
  };
}

const versionsSchema = z.array(z.object({ head_commit_sha: z.string(), created_at: z.string() }));
const approvedSchema = z.object({
  approved_by: z.array(z.object({ user: names, approved_at: z.string().nullish() })),
});

/** GitLab keeps an approval when more is pushed, unless the project says otherwise: it is for this commit if it came after that. */
async function approvalsOf(call: CallApi, read: Read, head: string): Promise<Pull['approvals'] | NotDone> {
  const reviewers = read.reviewers?.nodes ?? [];
  const changes = reviewers.flatMap(({ username, mergeRequestInteraction: said }) =>
    said?.reviewState === 'REQUESTED_CHANGES' ? [{ by: username, says: 'changes' as const, commit: head }] : [],
  );
  if ((read.approvedBy?.nodes ?? []).length === 0) return changes;
  const path = `merge_requests/${read.iid}`;
  const versions = value(await call({ path: `${path}/versions` }), versionsSchema, (all) => ({ type: 'all', all }));
  if (isNotDone(versions)) return versions;
  const approved = value(await call({ path: `${path}/approvals` }), approvedSchema, (all) => ({ type: 'all', all }));
  if (isNotDone(approved)) return approved;
  const [newest] = versions.all.toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
  const since = newest?.head_commit_sha === head ? Date.parse(newest.created_at) : Infinity;
  const yes = approved.all.approved_by.map(({ user, approved_at: at }) => ({
    ...{ by: user.username, says: 'approved' as const },
    commit: Date.parse(at ?? '') > since ? head : '',
  }));
  return [...yes.filter(({ by }) => !changes.some((one) => one.by === by)), ...changes];
}

/** A manual job is for a person to start; one that may fail says nothing about the work. */
function stateOf({ status, allowFailure }: z.infer<typeof jobSchema>): Check['state'] {
  if (['SUCCESS', 'SKIPPED'].includes(status)) return 'passed';
  if (allowFailure && ['FAILED', 'MANUAL', 'CANCELED'].includes(status)) return 'passed';
  return ['FAILED', 'CANCELED'].includes(status) ? 'failed' : 'pending';
}

function checkOf(job: z.infer<typeof jobSchema>): Check {
  const { id, name, retryable } = job;
  return { name, id: id.slice(id.lastIndexOf('/') + 1), state: stateOf(job), canRepeat: retryable };
}

async function logOf(call: CallApi, { id }: Check): ReturnType<ForgePulls['log']> {
  const answer = await call({ path: `jobs/${id}/trace` });
  // A program's output ends after a MiB, and GitLab gives no part of a log.
  if (answer.type === 'ok')
    return {
      type: 'log',
      text: answer.text.length < MOST_LOG ? answer.text : `${answer.text}\n[the rest was not read]`,
    };
  return answer.type === 'same' || answer.type === 'gone' ? { type: 'log', text: '' } : answer;
}
