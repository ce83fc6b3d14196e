import { openMachine, type Host } from '../machine.ts';
import { summarizeRun, type RunSummary } from '../read-model/run-summary.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import { readIfThere, workspaceIn } from './open-run.ts';

/** Every run of the repository, the newest first. Needs no runtime. */
export async function listRuns(host: Host): Promise<RunSummary[]> {
  const workspace = await workspaceIn({ host, composition: openMachine(host) });
  const lockedBy = probeLock(workspace.directory);
  const now = workspace.composition.clock.now();
  const all = readIfThere(workspace, (ledger) =>
    ledger.runs().flatMap((row) => summarizeRun(ledger, row, lockedBy, now) ?? []),
  );
  return (all ?? []).toReversed();
}
