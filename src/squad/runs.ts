import { openMachine, type Machine } from '../machine.ts';
import { summarizeRun, type RunSummary } from '../read-model/run-summary.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import { readIfThere, workspaceIn, type Place } from './open-run.ts';

/** Every run of the repository, the newest first. Needs no runtime. */
export async function listRuns({ host, composition }: Place<Machine>): Promise<RunSummary[]> {
  const workspace = await workspaceIn({ host, composition: composition ?? openMachine(host) });
  const lockedBy = probeLock(workspace.directory);
  const { clock, playbooks } = workspace.composition;
  const now = clock.now();
  const all = readIfThere(workspace, (ledger) =>
    ledger.runs().flatMap((row) => summarizeRun(ledger, row, lockedBy, now, playbooks) ?? []),
  );
  return (all ?? []).toReversed();
}
