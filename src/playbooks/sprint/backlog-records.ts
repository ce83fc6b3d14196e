import type { View, WorkspaceRecord } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { itemSchema, type BacklogEntry } from '../../model/sprint/item.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { plainJson } from '../../text/json.ts';
import type { Written } from '../../model/sprint/backlog-writes.ts';

/** Items that the run has written, as they are now. */
const ITEMS = 'sprint-items';
/** For each answer that wrote items, the receipt of each write. */
const RECEIPTS = 'sprint-receipts';

/** The backlog that the run began with, and what it has written since. */
export function backlogNow(frozen: readonly BacklogEntry[], { records }: Pick<View, 'records'>): BacklogEntry[] {
  const known = new Map(frozen.map((item) => [item.id, item]));
  for (const { id, value } of records(ITEMS)) {
    const item = itemSchema.parse(value);
    const before = known.get(id);
    const state = item.dropped === undefined ? (before?.state ?? 'pending') : 'dropped';
    known.set(id, { ...before, ...item, id, state });
  }
  return [...known.values()];
}

/** Records the writes of a task with their receipts; none where one of them has a problem. */
export function putItems({ task }: Pick<View, 'task'>, written: Written, id: string): PlanChange[] {
  if (written.problems !== undefined || written.items.size === 0) return [];
  const { items, receipts } = written;
  return [
    ...[...items].map(([item, value]): PlanChange => ({ do: 'put', in: ITEMS, id: item, value: plainJson(value) })),
    { do: 'put', in: RECEIPTS, id: `${id}/${task(id)?.round ?? 1}`, value: plainJson(receipts) },
  ];
}

/** Each item that the run wrote, which outlives it. */
export function itemRecords({ records }: Pick<View, 'records'>): WorkspaceRecord[] {
  return records(ITEMS).map(({ id, value }) => ({ kind: KINDS.item, id, value }));
}
