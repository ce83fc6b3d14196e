import { branchOf, publishFactsSchema, RUN_EVENTS } from '../model/run.ts';
import type { OperationPorts } from './operations/operation-ports.ts';
import { createBranch } from './operations/publish-run.ts';

/** Makes the branch again that the end of a cancelled run removed, for a run that is opened again. */
export async function restoreEmptyBranch({
  ledger,
  lease,
  definition,
  workspaces,
}: Pick<OperationPorts, 'ledger' | 'lease' | 'definition' | 'workspaces'>): Promise<void> {
  const last = ledger.events({ stream: lease.runId, types: [RUN_EVENTS.published] }).at(-1);
  if (last === undefined || branchOf(definition) === undefined) return;
  const { branch, head } = publishFactsSchema.parse(last.data);
  if (branch !== undefined || (await workspaces.runHead(definition.name)) !== undefined) return;
  await createBranch(workspaces, { run: definition.name, runId: lease.runId }, { head, kept: [], pins: [] });
}
