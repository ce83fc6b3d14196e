import { z } from 'zod';
import { errorCode } from '../../../model/storage-error.ts';
import { readBootId, readPidNamespace, readProcess, sourceName } from './process-table.ts';

/** A process that owns what it left on the disk. No other one has all of this, whatever pid the system gives it. */
export const ownerSchema = z.object({
  pid: z.int().positive(),
  startTime: z.string(),
  bootId: z.string(),
  /** Where its pid counts: a container has pids of its own. */
  space: z.string(),
  /** Epoch ms. */
  since: z.number(),
});
export type Owner = z.infer<typeof ownerSchema>;

/** Each git of a merge is ended after two minutes, and it starts a few. */
const LONGEST_MS = 15 * 60_000;

/** When this process began, by source: to ask `ps` each time would hold up all that want a lock. */
const ownStarts = new Map<string, string>();

export function ownOwner(): Owner {
  const startTime = ownStarts.get(sourceName) ?? readProcess(process.pid)?.startTime;
  if (startTime !== undefined) ownStarts.set(sourceName, startTime);
  const machine =
    startTime === undefined ? { bootId: '', space: '' } : { bootId: readBootId(), space: readPidNamespace() };
  return { pid: process.pid, startTime: startTime ?? '', ...machine, since: Date.now() };
}

export function isOwnerAlive({ pid, startTime, bootId, space, since }: Owner): boolean {
  const here = ownOwner();
  if (bootId !== here.bootId) return false;
  // It cannot be looked up from here.
  if (space !== here.space) return Math.abs(here.since - since) < LONGEST_MS;
  if (pid === here.pid && here.startTime !== '') return startTime === here.startTime;
  if (startTime !== '') return readProcess(pid)?.startTime === startTime;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
