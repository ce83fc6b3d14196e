import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOwn, parseCone, type Cone } from '../../text/cone.ts';
import { orNothing } from '../system/files/odd-entry.ts';
import { ENGINE_FOLDERS } from './folder-note.ts';
import type { GitContext, RunRepository } from './git-context.ts';

/**
 * The files that a sparse checkout leaves in a task's folder. undefined: all. Where `sparse` of the settings says it, folders in which
 * only the engine works have all.
 */
export function coneOf(
  { directory, isSparse }: Pick<RunRepository, 'directory' | 'isSparse'>,
  task: string,
): Cone | undefined {
  const path = join(directory, 'info/sparse-checkout');
  if (!isSparse || !existsSync(path)) return undefined;
  const patterns = readFileSync(path, 'latin1');
  if (isOwn(patterns) && ENGINE_FOLDERS.includes(task)) return undefined;
  const config = orNothing(() => readFileSync(join(directory, 'config'), 'latin1')) ?? '';
  return /^\s*sparsecheckout = "?(?:true|yes|on|1)/im.test(config) ? parseCone(patterns) : undefined;
}

/** A folder in which only the engine works has all files, also where `sparse` says that those of tasks do not. */
export function isWhole({ sparse }: Pick<GitContext, 'sparse'>, task: string): boolean {
  return sparse !== undefined && ENGINE_FOLDERS.includes(task);
}
