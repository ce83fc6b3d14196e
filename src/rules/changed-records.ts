import type { Playbook, WorkspaceRecord } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { createView } from './view.ts';

/**
 * The records that are otherwise after a step than before it. One that someone else has written since is left alone until the run has
 * something new to say of it.
 */
export function changedRecords(
  { records }: Pick<Playbook<never>, 'records'>,
  before: Board,
  after: Board,
): readonly WorkspaceRecord[] {
  if (records === undefined || before === after) return [];
  const known = new Map(records(createView(before)).map((record) => [`${record.kind}/${record.id}`, record.value]));
  return records(createView(after)).filter(
    ({ kind, id, value }) => JSON.stringify(known.get(`${kind}/${id}`)) !== JSON.stringify(value),
  );
}
