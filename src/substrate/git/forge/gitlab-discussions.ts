import { z } from 'zod';
import { defined } from '../../../text/defined.ts';
import type { NotDone } from '../../ports/forge-answer.ts';
import type { ForgePulls, PullComment } from '../../ports/forge-pulls.ts';
import type { CallApi } from './gh-api.ts';
import { pagesOf } from './gitlab-pages.ts';
import { isMarked } from './own-comment.ts';

const MOST_BODY = 4_000;

const notesSchema = z.array(
  z.object({
    ...{ id: z.int(), body: z.string(), created_at: z.string(), system: z.boolean() },
    author: z.object({ username: z.string() }).nullish(),
    /** Absent: it stands on no line of the work. */
    position: z
      .object({ ...{ new_path: z.string().nullish(), new_line: z.int().nullish(), old_line: z.int().nullish() } })
      .nullish(),
  }),
);
const discussionsSchema = z.array(z.object({ id: z.string(), notes: notesSchema }));

/** Notes on lines and on the merge request, oldest first. Each discussion is a thread, that of a single note, too. */
export async function discussionsOf(
  call: CallApi,
  self: () => Promise<{ readonly type: 'login'; readonly login: string } | NotDone>,
  number: number,
): ReturnType<ForgePulls['comments']> {
  const own = await self();
  if (own.type !== 'login') return own;
  const all = await pagesOf(call, `merge_requests/${number}/discussions`, {}, discussionsSchema);
  if ('type' in all) return all;
  const comments = all.flatMap(({ id: thread, notes }) => {
    const [first] = notes;
    const at = first?.position ?? undefined;
    const about = defined({ path: at?.new_path ?? undefined, line: at?.new_line ?? at?.old_line ?? undefined });
    return notes.flatMap(({ id, body, created_at, system, author }): PullComment[] => {
      if (system) return [];
      const [by, on] = [author?.username ?? '', at === undefined ? 'pull' : 'line'] as const;
      return [
        {
          ...{ id: String(id), on, by, at: Date.parse(created_at), body: body.slice(0, MOST_BODY), thread },
          ...{ isOwn: by === own.login && isMarked(body), ...about },
        },
      ];
    });
  });
  return { type: 'comments', comments: comments.toSorted((a, b) => a.at - b.at) };
}
