import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../model/storage-error.ts';
import { deleteFolder } from '../files/remove-tree.ts';
import { scratchRoot } from '../files/scratch.ts';
import { readBootId, readPidNamespace, readProcess } from '../process/process-table.ts';

/** The process of a merge. No other one has all of this, whatever pid the system gives it. */
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

export function ownOwner(): Owner {
  const startTime = readProcess(process.pid)?.startTime;
  const machine =
    startTime === undefined ? { bootId: '', space: '' } : { bootId: readBootId(), space: readPidNamespace() };
  return { pid: process.pid, startTime: startTime ?? '', ...machine, since: Date.now() };
}

export function isOwnerAlive({ pid, startTime, bootId, space, since }: Owner): boolean {
  const here = ownOwner();
  if (bootId !== here.bootId) return false;
  // It cannot be looked up from here.
  if (space !== here.space) return Math.abs(here.since - since) < LONGEST_MS;
  if (startTime !== '') return readProcess(pid)?.startTime === startTime;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Part of the name of its scratch, so that the next merge can tell whose that is. */
export function scratchLabel({ pid, startTime, bootId, space, since }: Owner): string {
  return ['merge', pid, startTime || 0, bootId.replaceAll('-', '') || 0, space || 0, since].join('_');
}

const LABEL = /^squad-scratch-merge_(\d+)_(\d+)_([\da-f]+)_(\d+)_(\d+)-/;

/** The scratch of merges whose process is gone. */
export async function findLeftScratch(stateDirectory: string): Promise<readonly string[]> {
  const root = scratchRoot(stateDirectory);
  const names: string[] = await readdir(root).catch(() => []);
  return names.filter((name) => isLeft(LABEL.exec(name))).map((name) => join(root, name));
}

function isLeft(label: RegExpExecArray | null): boolean {
  if (label === null) return false;
  const [, pid, startTime = '', boot, space = '', since] = label;
  const here = ownOwner();
  const bootId = boot === here.bootId.replaceAll('-', '') || boot === '0' ? here.bootId : '?';
  return !isOwnerAlive({ pid: Number(pid), startTime, bootId, space, since: Number(since) });
}

export async function removeLeftScratch(stateDirectory: string): Promise<void> {
  for (const path of await findLeftScratch(stateDirectory)) await deleteFolder(path);
}
