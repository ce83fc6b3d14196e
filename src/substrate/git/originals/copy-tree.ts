import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pickVariables } from '../../../text/defined.ts';
import { textOfPath } from '../../system/files/plain-folder.ts';
import { deleteFolder } from '../../system/files/remove-tree.ts';
import type { GitContext } from '../git-context.ts';
import { lookAtTree, type MadeTree } from './made-tree.ts';

const COPY_MS = 10 * 60_000;
/** The system's clock for files ticks at least so often: a change within one tick of a look would leave the times as they were. */
const TICK_MS = 20;

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
  await sleep(TICK_MS);
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

/** Returns whether everything in the folder's file system is on the disk. */
export async function flush({ processes, environment }: GitContext, folder: string): Promise<boolean> {
  const options = { kind: 'flush', env: pickVariables(environment, ['PATH']), timeoutMs: FLUSH_MS } as const;
  return (await processes.run('sync', ['-f', dirname(folder)], options)).code === 0;
}

const FLUSH_MS = 20_000;
