import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Composition, Host } from './compose.ts';
import { holderName } from '../substrate/ledger/index.ts';
import type { BootMoment, Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { Processes } from '../substrate/ports/processes.ts';
import type { RunResources } from './run-resources.ts';

type LeasePorts = Pick<Composition, 'clock' | 'processes'> & { readonly host: Pick<Host, 'pid'> };

/**
 * Makes this process the engine of the run. Time in which agents of the run worked without an engine counts as engine time, or each
 * crash would give them more than `minutes` allows.
 */
export async function takeLease(
  ports: LeasePorts,
  { ledger, directory }: Pick<RunResources, 'ledger' | 'directory'>,
  runId: string,
): Promise<Lease> {
  const seen = seenNow(ports.processes);
  const unattended = seen === undefined ? 0 : await unattendedMs({ ...ports, ledger }, directory, runId, seen);
  const lease = ledger.acquireLease(runId, holderName(ports.host.pid));
  ledger.renewLease(lease, unattended, seen);
  return lease;
}

/** undefined: this machine has no clock that processes share. */
export function seenNow(processes: Pick<Processes, 'sinceBoot'>): BootMoment | undefined {
  try {
    return processes.sinceBoot();
  } catch {
    // Then nothing can be counted. Agents do not run on such a machine.
    return undefined;
  }
}

/**
 * How long the turns that the last engine left have worked since its last beat. A turn that has ended counts up to the time of its
 * exit file, and never longer than the time since that beat, wherever the clock was set.
 */
async function unattendedMs(
  { ledger, processes, clock }: Pick<Composition, 'clock' | 'processes'> & { readonly ledger: Ledger },
  directory: string,
  runId: string,
  now: BootMoment,
): Promise<number> {
  const last = ledger.segments(runId).findLast(({ seen }) => seen !== null)?.seen;
  // The start of the machine ended all turns, at an unknown time.
  if (last?.boot !== now.boot) return 0;
  const gap = Math.max(0, now.ms - last.ms);
  const left = ledger.attempts({ runId, status: 'spawned' });
  const times = left.map(async ({ id, process }) => {
    if (process !== null && (await processes.isAlive(process))) return gap;
    const ended = statSync(join(directory, 'turns', id, 'exit'), { throwIfNoEntry: false })?.mtimeMs;
    return ended === undefined ? 0 : Math.min(gap, Math.max(0, gap - (clock.now() - ended)));
  });
  return Math.round(Math.max(0, ...(await Promise.all(times))));
}
