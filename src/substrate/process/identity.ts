import type { ProcessIdentity } from '../../model/process-identity.ts';
import { carriesMarker, readBootId, readProcess } from './process-table.ts';

/** undefined: no such process, a zombie, or one that does not carry the marker. */
export function identify(pid: number, marker: string): ProcessIdentity | undefined {
  const before = readProcess(pid);
  if (before === undefined || !carriesMarker(pid, marker)) return undefined;
  // The pid may have changed hands between the two reads.
  if (readProcess(pid)?.startTime !== before.startTime) return undefined;
  return { pid, startTime: before.startTime, bootId: readBootId(), marker };
}

/** The very same process is alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  return isSameProcess(identity) && carriesMarker(identity.pid, identity.marker);
}

/** As `isAlive`, at a third of the price: enough to watch a process whose marker was seen before. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startTime === identity.startTime && readBootId() === identity.bootId;
}
