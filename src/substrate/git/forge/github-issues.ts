import { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import { isNotDone, type NotDone } from '../../ports/forge-answer.ts';
import {
  commentsSince,
  type ForgeComment,
  type ForgeIssue,
  type ForgeIssues,
  type ListedIssue,
} from '../../ports/forge-issues.ts';
import type { Refused } from '../../ports/forge.ts';
import { readValue as value } from './api-answer.ts';
import { githubApi, type CallApi } from './gh-api.ts';
import { ownLogin, roleOf } from './github-people.ts';
import { hasMarker, isMarked, markedText } from './own-comment.ts';
import { forgePlace, type ForgePorts } from './remotes.ts';

const PAGE = 100;
const MOST_PAGES = 10;

const LIST = `[.[] | select(.pull_request | not) | {number, changed: .updated_at, labels: [.labels[].name]}]`;
const COMMENTS = `[.[] | {id, at: .created_at, by: (.user.login // ""), body: ((.body // "")[:4000])}]`;
/** Enough of each for a marker. */
const BEGINNINGS = COMMENTS.replace('4000', '300');

/** Who set the label when, and when title and text were changed, in one request: the text alone does not say how old it is. */
const QUERY = `query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){issue(number:$number){
number title body url state lastEditedAt labels(first:100){nodes{name}}
timelineItems(last:100,itemTypes:[LABELED_EVENT,RENAMED_TITLE_EVENT]){nodes{__typename
... on LabeledEvent{id createdAt actor{login} label{name}}
... on RenamedTitleEvent{createdAt}}}}}}`;

const listSchema = z.array(z.object({ number: z.int(), changed: z.string(), labels: z.array(z.string()) }));
const commentsSchema = z.array(z.object({ id: z.int(), at: z.string(), by: z.string(), body: z.string() }));
const eventSchema = z.object({
  __typename: z.string(),
  id: z.string().optional(),
  createdAt: z.string(),
  actor: z.object({ login: z.string() }).nullish(),
  label: z.object({ name: z.string() }).nullish(),
});
const issueSchema = z.object({
  ...{ number: z.int(), title: z.string(), body: z.string(), url: z.url({ protocol: /^https?$/ }), state: z.string() },
  lastEditedAt: z.string().nullable(),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
  timelineItems: z.object({ nodes: z.array(eventSchema) }),
});
const foundSchema = z.object({ data: z.object({ repository: z.object({ issue: issueSchema }) }) });

/** The issues of the repository at `url` on GitHub, through `gh api`. */
export async function githubIssues(ports: ForgePorts, url: string): Promise<ForgeIssues | Refused> {
  const call = await githubApi(ports, url);
  if (typeof call !== 'function') return call;
  const { host, path } = forgePlace(url) ?? { host: '', path: '' };
  const self = ownLogin(call);
  return {
    place: `${host}/${path}`,
    list: async (of) => list(call, of),
    read: async ({ number, label }) => readIssue(call, { path, number, label }),
    roleOf: async (login) => roleOf(call, login),
    comments: async (of) => comments(call, self, of),
    post: async ({ number, marker, text, since }) => {
      // A try whose answer was lost may have come through.
      const after = commentsSince(since);
      const there = await comments(call, self, { number, after, jq: BEGINNINGS });
      if (there.type !== 'comments') return there;
      const found = there.comments.find(({ isOwn, body }) => isOwn && hasMarker(body, marker));
      if (found !== undefined) return { type: 'posted', id: found.id };
      const fields = { body: markedText(marker, text) };
      const answer = await call({ method: 'POST', path: `issues/${number}/comments`, fields, jq: '{id}' });
      return value(answer, z.object({ id: z.int() }), ({ id }) => ({ type: 'posted', id: String(id) }));
    },
    edit: async ({ id, marker, text }) => {
      const fields = { body: markedText(marker, text) };
      const answer = await call({ method: 'PATCH', path: `issues/comments/${id}`, fields, jq: '{id}' });
      return value(answer, z.object({}), () => ({ type: 'edited' }));
    },
    relabel: async (of) => relabel(call, of),
  };
}

async function list(
  call: CallApi,
  { label, etag }: { readonly label: string; readonly etag?: string | undefined },
): ReturnType<ForgeIssues['list']> {
  const issues: ListedIssue[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const fields = { labels: label, state: 'open', sort: 'created', direction: 'asc', per_page: PAGE, page };
    const answer = await call({ path: 'issues', fields, jq: LIST, etag: page === 1 ? etag : undefined });
    if (answer.type === 'same') return answer;
    const found = value(answer, listSchema, (read) => ({ type: 'page' as const, read }));
    if (found.type !== 'page') return found;
    issues.push(...found.read);
    if (answer.type !== 'ok' || answer.more) continue;
    // The first of several pages does not change with the others.
    return { type: 'listed', issues, ...defined({ etag: page === 1 ? answer.etag : undefined }) };
  }
  return { type: 'listed', issues };
}

async function readIssue(
  call: CallApi,
  { path, number, label }: { readonly path: string; readonly number: number; readonly label: string },
): ReturnType<ForgeIssues['read']> {
  const [owner = '', name = ''] = path.split('/');
  const answer = await call({ method: 'POST', path: '/graphql', fields: { query: QUERY, owner, name, number } });
  if (answer.type === 'ok' && /"type":\s*"NOT_FOUND"/.test(answer.text))
    return { type: 'gone', why: `there is no issue ${number}` };
  return value(answer, foundSchema, ({ data }) => ({ type: 'found', issue: issueOf(data.repository.issue, label) }));
}

function issueOf(read: z.infer<typeof issueSchema>, label: string): ForgeIssue {
  const { number, title, body, url, state, lastEditedAt, timelineItems } = read;
  const labels = read.labels.nodes.map((one) => one.name);
  const isSame = (other: string | undefined): boolean => other?.toLowerCase() === label.toLowerCase();
  const events = timelineItems.nodes;
  const set = events.findLast((event) => event.__typename === 'LabeledEvent' && isSame(event.label?.name));
  const renames = events.filter((event) => event.__typename === 'RenamedTitleEvent').map(({ createdAt }) => createdAt);
  const edits = [...renames, ...(lastEditedAt === null ? [] : [lastEditedAt])].map((at) => Date.parse(at));
  const by = set?.actor?.login;
  return {
    ...{ number, title, body, url, isOpen: state === 'OPEN', labels },
    ...(by === undefined || set === undefined || !labels.some(isSame)
      ? {}
      : { set: { id: set.id ?? set.createdAt, by, at: Date.parse(set.createdAt) } }),
    ...(edits.length === 0 ? {} : { editedAt: Math.max(...edits) }),
  };
}

/** Its time and its id: GitHub lists by the time of a change, and ids only grow. */
function cursorOf(at: string, id: number): string {
  return `${at}/${id}`;
}

async function comments(
  call: CallApi,
  self: () => Promise<string | NotDone>,
  { number, after, jq = COMMENTS }: { readonly number: number; readonly after: string; readonly jq?: string },
): ReturnType<ForgeIssues['comments']> {
  const login = await self();
  if (typeof login !== 'string') return login;
  const [since = '', last = '0'] = after.split('/');
  const found: ForgeComment[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const fields = { since, per_page: PAGE, page };
    const answer = await call({ path: `issues/${number}/comments`, fields, jq });
    const read = value(answer, commentsSchema, (some) => ({ type: 'page', some }));
    if (read.type !== 'page') return read;
    for (const { id, at, by, body } of read.some) {
      const isOwn = by === login && isMarked(body);
      if (id > Number(last)) found.push({ id: String(id), cursor: cursorOf(at, id), by, body, isOwn });
    }
    if (answer.type !== 'ok' || !answer.more) break;
  }
  return { type: 'comments', comments: found };
}

async function relabel(
  call: CallApi,
  { number, set, remove }: { readonly number: number; readonly set: string; readonly remove: readonly string[] },
): ReturnType<ForgeIssues['relabel']> {
  const path = `issues/${number}/labels`;
  const answer = await call({ method: 'POST', path, fields: { labels: [set] }, jq: '[.[].name]' });
  const now = value(answer, z.array(z.string()), (labels) => ({ type: 'labels' as const, labels }));
  if (now.type !== 'labels') return now;
  for (const label of remove.filter((one) => now.labels.includes(one))) {
    const gone = await call({ method: 'DELETE', path: `${path}/${encodeURIComponent(label)}`, jq: '[]' });
    if (isNotDone(gone) && gone.type !== 'gone') return gone;
  }
  return { type: 'labelled' };
}
