import { createSupervisor } from '../attempts/supervisor.ts';
import type { Composition } from '../compose.ts';
import type { RunDefinition } from '../model/run.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import { createRuntimes, letThroughOf } from './runtimes.ts';

export interface LeftoverPorts extends Pick<Composition, 'processes' | 'runtime' | 'checkRuntime' | 'redactor'> {
  readonly ledger: Ledger;
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly turnsDirectory: string;
}

/**
 * Settles every attempt that is not: what ended by itself is harvested, what lives is ended. One that never had a process
 * is started by nobody: the next engine may.
 */
export async function endLeftovers(ports: LeftoverPorts): Promise<string[]> {
  const { ledger, lease, definition, processes, turnsDirectory } = ports;
  const runtime = createRuntimes(ports, definition);
  const redactor = ports.redactor(letThroughOf(definition));
  const supervisor = createSupervisor({ ledger, processes, redactor, runtime, turnsDirectory }, lease);
  const open = ledger.attempts({ runId: lease.runId }).filter(({ status }) => status === 'spawned');
  for (const { id } of open) supervisor.ensure(id);
  await Promise.all(open.map(async ({ id }) => supervisor.cancel(id, 'stopped by its operator')));
  return open.map(({ id }) => id);
}
