import { z } from 'zod';

/** A reviewer's word on a changed check. `commit`: the work that it judged. */
const checkerWordSchema = z.object({
  path: z.string(),
  by: z.string(),
  accepted: z.boolean(),
  why: z.string(),
  commit: z.string(),
});
export type CheckerWord = z.infer<typeof checkerWordSchema>;

/** A change that the work made of what checks it, from the base of the run to its result. */
export const checkerChangeSchema = z.object({
  /** Where the file was at the base; of a new one where it is. */
  path: z.string(),
  /** The script, target or section that changed; absent: the whole file counts. */
  part: z.string().optional(),
  status: z.enum(['added', 'modified', 'deleted', 'renamed']),
  /** Where a renamed one is. */
  to: z.string().optional(),
  /** Lines; null: it is binary. */
  added: z.number().int().nullable(),
  removed: z.number().int().nullable(),
  /** `protect` names its path, so that a reviewer has to speak of it. */
  protected: z.literal(true).optional(),
  /** The reviewers who accepted exactly this content. Absent: none did. */
  accepted: z.array(z.string()).optional(),
});
export type CheckerChange = z.infer<typeof checkerChangeSchema>;

/** `test.sh (−12 +1)`, `old.test.js (deleted)`, `package.json (script test, −1 +1)`. */
export function checkerText({ path, part, status, to, added, removed, accepted }: CheckerChange): string {
  const lines = added === null || removed === null ? 'binary' : [minus(removed), plus(added)].join(' ').trim();
  const how = { added: 'new', deleted: 'deleted', renamed: `renamed to ${to ?? '?'}`, modified: '' }[status];
  const count = status === 'deleted' || (lines === '' && how !== '') ? '' : lines === '' ? 'its mode' : lines;
  const by = accepted === undefined ? '' : `accepted by ${accepted.join(', ')}`;
  const said = [part ?? '', how, count, by].filter((text) => text !== '');
  return `${path} (${said.join(', ')})`;
}

function minus(count: number): string {
  return count === 0 ? '' : `−${count}`;
}

function plus(count: number): string {
  return count === 0 ? '' : `+${count}`;
}

/** Criteria besides those of the objective, which need a reviewer's word: one for each protected path that was changed. */
export function protectedCriteria(changes: readonly CheckerChange[] = []): { text: string; change: CheckerChange }[] {
  return changes.flatMap((change) => {
    const text = `The change of ${change.path}, a protected path, is right: what it checked is still checked`;
    return change.protected === true ? [{ text, change }] : [];
  });
}
