import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteFolder } from '../files/remove-tree.ts';
import { scratchRoot } from '../files/scratch.ts';
import { isOwnerAlive, ownOwner } from './owner.ts';

/** Part of the name of this process's scratch, so that another one can tell whose that is. */
export function scratchLabel(use: 'of' | 'merge' = 'of'): string {
  const { pid, startTime, bootId, space, since } = ownOwner();
  return [use, pid, startTime || 0, bootId.replaceAll('-', '') || 0, space || 0, since].join('_');
}

const LABEL = /^squad-scratch-([a-z]+)_(\d+)_(\d+)_([\da-f]+)_(\d+)_(\d+)-/;

/**
 * Scratch whose process is gone. No time of a file decides: a clock that is set forward makes new ones old. `use`: only this one's.
 */
export async function findLeftScratch(stateDirectory: string, use?: string): Promise<readonly string[]> {
  const root = scratchRoot(stateDirectory);
  const names: string[] = await readdir(root).catch(() => []);
  return names.filter((name) => isLeft(LABEL.exec(name), use)).map((name) => join(root, name));
}

function isLeft(label: RegExpExecArray | null, wanted: string | undefined): boolean {
  if (label === null) return false;
  const [, use, pid, startTime = '', boot, space = '', since] = label;
  if (wanted !== undefined && use !== wanted) return false;
  const here = ownOwner();
  const bootId = boot === here.bootId.replaceAll('-', '') || boot === '0' ? here.bootId : '?';
  const known = { startTime: startTime === '0' ? '' : startTime, space: space === '0' ? here.space : space };
  return !isOwnerAlive({ pid: Number(pid), bootId, ...known, since: Number(since) });
}

/** That of merges whose process is gone. */
export async function removeLeftScratch(stateDirectory: string): Promise<void> {
  for (const path of await findLeftScratch(stateDirectory, 'merge')) await deleteFolder(path);
}
