import { pickVariables } from '../../text/defined.ts';
import type { GitContext } from './git-context.ts';

const FLUSH_MS = 20_000;

/** Returns whether everything in the file system of a folder is on the disk. */
export async function flush(
  { processes, environment }: Pick<GitContext, 'processes' | 'environment'>,
  folder: string,
): Promise<boolean> {
  const options = { kind: 'flush', env: pickVariables(environment, ['PATH']), timeoutMs: FLUSH_MS } as const;
  return (await processes.run('sync', ['-f', folder], options)).code === 0;
}
