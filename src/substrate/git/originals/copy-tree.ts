import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickVariables } from '../../../text/defined.ts';
import { textOfPath } from '../../system/files/plain-folder.ts';
import { deleteFolder } from '../../system/files/remove-tree.ts';
import type { GitContext } from '../git-context.ts';
import { TICK_NS } from '../spare/folder-states.ts';
import { lookAtTree, type MadeTree } from './made-tree.ts';

const COPY_MS = 10 * 60_000;
const NS_PER_MS = 1_000_000n;

/**
 * Copies a tree without following a link, sharing its content where the file system can, so that no write to one reaches the other.
 * `isUrgent`: something waits for it. undefined: the copy is not what `shape` says, and is gone.
 */
export async function copyTree(
  context: GitContext,
  { from, to, path, shape }: { from: string; to: string; path: string; shape: string },
  isUrgent: boolean,
): Promise<MadeTree | undefined> {
  const [source, target] = [join(from, textOfPath(path)), join(to, textOfPath(path))];
  // Not each system's `cp` knows how to share content.
  for (const how of [['-a', '--reflink=auto'], ['-a']]) {
    if (await copy(context, [...how, '--', source, target], isUrgent)) break;
    await deleteFolder(target);
  }
  // A change within one tick of the look would leave the times as they were.
  await sleep(Number(TICK_NS / NS_PER_MS));
  const looked = await lookAtTree(to, path);
  if (looked.type === 'tree' && looked.tree.shape === shape) return looked.tree;
  await deleteFolder(target);
  return undefined;
}

async function copy({ processes, environment }: GitContext, args: string[], isUrgent: boolean): Promise<boolean> {
  const options = { kind: 'copy', env: pickVariables(environment, ['PATH']), timeoutMs: COPY_MS, cwd: '/' } as const;
  const call: [string, string[]] = isUrgent ? ['cp', args] : ['nice', ['-n', '19', 'cp', ...args]];
  return (await processes.run(...call, options)).code === 0;
}
