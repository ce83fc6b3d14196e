import { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import type { NotDone } from '../../ports/forge-answer.ts';
import { commentsSince, type ForgeComment, type ForgeIssues, type ListedIssue } from '../../ports/forge-issues.ts';
import type { Refused } from '../../ports/forge.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';
import { gitlabApi } from './glab-api.ts';
import { MOST_PAGES, PAGE, pagesOf } from './gitlab-pages.ts';
import { gitlabRole, ownName } from './gitlab-people.ts';
import { hasMarker, isMarked, markedText } from './own-comment.ts';
import type { ForgePlace, ForgePorts } from './remotes.ts';

/** More of a comment is not read. */
const MOST_BODY = 4_000;

const url = z.url({ protocol: /^https?$/ });
const listSchema = z.array(z.object({ iid: z.int(), updated_at: z.string(), labels: z.array(z.string()) }));
const issueSchema = z.object({
  ...{ iid: z.int(), title: z.string(), description: z.string().nullable(), web_url: url, state: z.string() },
  labels: z.array(z.string()),
});
const eventsSchema = z.array(
  z.object({
    ...{ id: z.int(), created_at: z.string(), action: z.string() },
    user: z.object({ username: z.string() }).nullish(),
    label: z.object({ name: z.string() }).nullish(),
  }),
);
const notesSchema = z.array(
  z.object({
    ...{ id: z.int(), body: z.string(), created_at: z.string(), system: z.boolean() },
    author: z.object({ username: z.string() }).nullish(),
  }),
);

/** The issues of a project on GitLab, through `glab api`, as its documents describe that. */
export async function gitlabIssues(ports: ForgePorts, place: ForgePlace): Promise<ForgeIssues | Refused> {
  const call = await gitlabApi(ports, place);
  if (typeof call !== 'function') return call;
  const self = ownName(call);
  const find = async (number: number, after: string) => notes(call, self, { number, after });
  return {
    place: `${place.host}/${place.path}`,
    list: async (of) => list(call, of),
    read: async (of) => readIssue(call, of),
    roleOf: async (login) => gitlabRole(call, login),
    comments: async ({ number, after }) => find(number, after),
    post: async ({ number, marker, text, since }) => {
      const there = await find(number, commentsSince(since));
      if (there.type !== 'comments') return there;
      const found = there.comments.find(({ isOwn, body }) => isOwn && hasMarker(body, marker));
      if (found !== undefined) return { type: 'posted', id: found.id };
      const fields = { body: markedText(marker, text) };
      const answer = await call({ method: 'POST', path: `issues/${number}/notes`, fields });
      return value(answer, z.object({ id: z.int() }), ({ id }) => ({ type: 'posted', id: String(id) }));
    },
    edit: async ({ number, id, marker, text }) => {
      const fields = { body: markedText(marker, text) };
      const answer = await call({ method: 'PUT', path: `issues/${number}/notes/${id}`, fields });
      return value(answer, z.object({}), () => ({ type: 'edited' }));
    },
    relabel: async ({ number, set, remove }) => {
      const fields = { add_labels: set, remove_labels: remove.join(',') };
      const answer = await call({ method: 'PUT', path: `issues/${number}`, fields });
      return value(answer, z.object({}), () => ({ type: 'labelled' }));
    },
  };
}

async function list(
  call: CallApi,
  { label, etag }: { readonly label: string; readonly etag?: string | undefined },
): ReturnType<ForgeIssues['list']> {
  const issues: ListedIssue[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const fields = { labels: label, state: 'opened', order_by: 'created_at', sort: 'asc', per_page: PAGE, page };
    const answer = await call({ path: 'issues', fields, etag: page === 1 ? etag : undefined });
    if (answer.type === 'same') return answer;
    const found = value(answer, listSchema, (read) => ({ type: 'page', read }));
    if (found.type !== 'page') return found;
    for (const { iid, updated_at, labels } of found.read) issues.push({ number: iid, changed: updated_at, labels });
    if (answer.type !== 'ok' || answer.more) continue;
    return { type: 'listed', issues, ...defined({ etag: page === 1 ? answer.etag : undefined }) };
  }
  return { type: 'listed', issues };
}

/** GitLab says in a note of its own that a text was changed. */
const CHANGED = /^changed (?:the description|title from)\b/;

async function readIssue(
  call: CallApi,
  { number, label }: { readonly number: number; readonly label: string },
): ReturnType<ForgeIssues['read']> {
  const answer = await call({ path: `issues/${number}` });
  const issue = value(answer, issueSchema, (read) => ({ type: 'issue', read }));
  if (issue.type !== 'issue') return issue;
  const events = await pagesOf(call, `issues/${number}/resource_label_events`, {}, eventsSchema);
  if ('type' in events) return events;
  const newest = { sort: 'desc', order_by: 'created_at', activity_filter: 'only_activity', per_page: PAGE };
  const said = value(await call({ path: `issues/${number}/notes`, fields: newest }), notesSchema, (read) => ({
    type: 'notes',
    read,
  }));
  if (said.type !== 'notes') return said;
  const { iid, title, description, web_url, state, labels } = issue.read;
  const set = events.findLast((event) => event.action === 'add' && event.label?.name === label);
  const edit = said.read.find(({ system, body }) => system && CHANGED.test(body));
  const by = set?.user?.username;
  return {
    type: 'found',
    issue: {
      ...{ number: iid, title, body: description ?? '', url: web_url, isOpen: state === 'opened', labels },
      ...(set === undefined || by === undefined || !labels.includes(label)
        ? {}
        : { set: { id: String(set.id), by, at: Date.parse(set.created_at) } }),
      ...(edit === undefined ? {} : { editedAt: Date.parse(edit.created_at) }),
    },
  };
}

async function notes(
  call: CallApi,
  self: () => Promise<{ readonly type: 'login'; readonly login: string } | NotDone>,
  { number, after }: { readonly number: number; readonly after: string },
): ReturnType<ForgeIssues['comments']> {
  const own = await self();
  if (own.type !== 'login') return own;
  const [since = '', last = '0'] = after.split('/');
  const fields = { sort: 'asc', order_by: 'created_at', activity_filter: 'only_comments' };
  const all = await pagesOf(call, `issues/${number}/notes`, fields, notesSchema);
  if ('type' in all) return all;
  const comments = all.flatMap(({ id, body, created_at, system, author }): ForgeComment[] => {
    if (system || id <= Number(last) || Date.parse(created_at) < Date.parse(since)) return [];
    const by = author?.username ?? '';
    const isOwn = by === own.login && isMarked(body);
    return [{ id: String(id), cursor: `${created_at}/${id}`, by, body: body.slice(0, MOST_BODY), isOwn }];
  });
  return { type: 'comments', comments };
}
