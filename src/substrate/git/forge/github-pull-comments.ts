import { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import { isNotDone, type NotDone } from '../../ports/forge-answer.ts';
import type { ForgePulls, PullComment } from '../../ports/forge-pulls.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';
import { isMarked } from './own-comment.ts';

const PAGE = 100;
const MOST_PAGES = 10;

const BASIC = 'id, by: (.user.login // ""), body: ((.body // "")[:4000])';
const ASKS = '.submitted_at and (.body // "") != "" and .state != "APPROVED" and .state != "DISMISSED"';
/** By where a comment stands: the list that has it, and what is taken of it. */
const LISTS: Readonly<Record<PullComment['on'], readonly [kind: 'issues' | 'pulls', list: string, jq: string]>> = {
  line: [
    'pulls',
    'comments',
    `[.[] | {${BASIC}, at: .created_at, path, line: (.line // .original_line), thread: .in_reply_to_id}]`,
  ],
  pull: ['issues', 'comments', `[.[] | {${BASIC}, at: .created_at}]`],
  // Its comments on lines are in the first list; one that is not submitted has no time, and praise asks for nothing.
  review: ['pulls', 'reviews', `[.[] | select(${ASKS}) | {${BASIC}, at: .submitted_at}]`],
};

const listSchema = z.array(
  z.object({
    ...{ id: z.int(), by: z.string(), body: z.string(), at: z.string() },
    ...{ path: z.string().nullish(), line: z.int().nullish(), thread: z.int().nullish() },
  }),
);

/** Comments on lines, on the pull request, and of reviews, oldest first. */
export async function pullComments(
  call: CallApi,
  self: () => Promise<string | NotDone>,
  number: number,
): ReturnType<ForgePulls['comments']> {
  const login = await self();
  if (typeof login !== 'string') return login;
  const all: PullComment[] = [];
  for (const on of ['line', 'pull', 'review'] as const) {
    const found = await listOf(call, number, on);
    if (isNotDone(found)) return found;
    for (const { id, by, body, at, path, line, thread } of found) {
      all.push({
        ...{ id: `${on}/${id}`, on, by, body, at: Date.parse(at), thread: String(thread ?? id) },
        isOwn: by === login && isMarked(body),
        ...defined({ path: path ?? undefined, line: line ?? undefined }),
      });
    }
  }
  return { type: 'comments', comments: all.toSorted((a, b) => a.at - b.at) };
}

async function listOf(
  call: CallApi,
  number: number,
  on: PullComment['on'],
): Promise<z.infer<typeof listSchema> | NotDone> {
  const [kind, list, jq] = LISTS[on];
  const all: z.infer<typeof listSchema> = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const answer = await call({ path: `${kind}/${number}/${list}`, fields: { per_page: PAGE, page }, jq });
    const read = value(answer, listSchema, (some) => ({ type: 'page', some }));
    if (read.type !== 'page') return read;
    all.push(...read.some);
    if (answer.type !== 'ok' || !answer.more) break;
  }
  return all;
}
