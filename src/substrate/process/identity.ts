import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { Clock } from '../ports/clock.ts';
import { carriesMarker, readBootId, readProcess } from './process-table.ts';

/** undefined: no such process, a zombie, or one that does not carry the marker. */
export function identify(pid: number, marker: string): ProcessIdentity | undefined {
  const before = readProcess(pid);
  if (before === undefined || carriesMarker(pid, marker) !== true) return undefined;
  // The pid may have changed hands between the two reads.
  if (readProcess(pid)?.startTime !== before.startTime) return undefined;
  return { pid, startTime: before.startTime, bootId: readBootId(), marker };
}

const PATIENCE_MS = 2000;

/**
 * As `identify`, for a child that was started this moment. The kernel says that a program is started a little before its
 * environment can be read: on a loaded machine a few children in a thousand showed none yet (found by the crash matrix).
 */
export async function identifyChild(pid: number, marker: string, clock: Clock): Promise<ProcessIdentity | undefined> {
  const start = clock.monotonic();
  for (;;) {
    const identity = identify(pid, marker);
    if (identity !== undefined || readProcess(pid) === undefined) return identity;
    if (clock.monotonic() - start > PATIENCE_MS) return undefined;
    await clock.sleep(2);
  }
}

/** The very same process is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return isSameProcess(identity) && carriesMarker(identity.pid, identity.marker) === true;
}

/** As `isAlive`, at a third of the price: enough to watch a process whose marker was seen before. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime && readBootId() === identity.bootId;
}
