import { join } from 'node:path';
import { createSupervisor } from './attempts/supervisor.ts';
import type { Composition, Host } from './compose.ts';
import { letThroughBy } from '../model/let-through.ts';
import { readRun } from '../view/read-run.ts';
import { findState } from '../substrate/system/files/state-place.ts';
import { openCheckout } from '../substrate/git/repository.ts';
import { openRunResources } from './run-resources.ts';
import { createRuntimes } from './runtimes.ts';
import { takeLease } from './take-lease.ts';

/** Ends and settles the turns and checks that a dead engine left running; no sweep resumes the run. Returns the attempts. */
export async function haltRun(
  ports: Composition & { readonly host: Host },
  path: string,
  runId: string,
  by: string,
  key?: string,
): Promise<string[]> {
  const repository = await openCheckout(ports.git, path);
  const { directory } = findState(ports.host.stateDirectory, repository.commonDirectory);
  const resources = openRunResources(ports, directory);
  try {
    const { ledger } = resources;
    const { definition } = readRun(ledger, runId, null);
    ledger.command(runId, 'stop', {}, by, key);
    const lease = await takeLease(ports, resources, runId);
    const supervisor = createSupervisor(
      {
        ledger,
        processes: ports.processes,
        redactor: ports.redactor(letThroughBy(definition)),
        runtime: createRuntimes(ports, definition),
        turnsDirectory: join(directory, 'turns'),
      },
      lease,
    );
    // The next engine may start an attempt that never had a process.
    const open = ledger.attempts({ runId }).filter(({ status }) => status === 'spawned');
    for (const { id } of open) supervisor.ensure(id);
    await Promise.all(open.map(async ({ id }) => supervisor.cancel(id, 'stopped by its operator')));
    ledger.releaseLease(lease);
    return open.map(({ id }) => id);
  } finally {
    resources.close();
  }
}
