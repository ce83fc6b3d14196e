import type { z } from 'zod';
import type { NotDone } from '../../ports/forge-answer.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';

/** GitLab’s answers are whole: more would not fit into what squad reads. */
export const PAGE = 20;
export const MOST_PAGES = 50;

/** All items of a list, by its pages. */
export async function pagesOf<Item>(
  call: CallApi,
  path: string,
  fields: Readonly<Record<string, string>>,
  schema: z.ZodType<Item[]>,
): Promise<Item[] | NotDone> {
  const all: Item[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const answer = await call({ path, fields: { ...fields, per_page: PAGE, page } });
    const read = value(answer, schema, (items) => ({ type: 'page', items }));
    if (read.type !== 'page') return read;
    all.push(...read.items);
    if (answer.type !== 'ok' || !answer.more) break;
  }
  return all;
}
