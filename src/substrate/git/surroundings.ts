import { lstatSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readPlainSync } from '../system/files/read-plain.ts';
import { absolutePath } from '../../text/absolute-path.ts';
import { isWithin } from '../system/files/confine.ts';
import { foreignOwner } from '../system/files/owner.ts';
import { realPath } from '../system/files/real-path.ts';
import type { PlaceFacts } from './explain-place.ts';
import type { GitPorts } from './git-call.ts';

/** Runs no git, because git does not accept the folder. */
export function lookAround(
  { environment }: Pick<GitPorts, 'environment'>,
  path: string,
): Pick<PlaceFacts, 'path' | 'isThere' | 'isHome' | 'dotGit' | 'owner' | 'variables'> {
  const dotGit = findDotGit(realPath(path) ?? path);
  const owner = foreignOwner(dotGit?.path ?? path) ?? foreignOwner(dirname(dotGit?.path ?? path));
  const { GIT_DIR, GIT_WORK_TREE } = environment;
  return {
    path,
    isThere: statSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
    isHome: isHome(environment, path),
    dotGit,
    owner,
    variables: { GIT_DIR, GIT_WORK_TREE },
  };
}

/** Whether the folder is the person's home or above it, so that all of the home's files would be in it. */
export function isHome(environment: GitPorts['environment'], path: string): boolean {
  const home = absolutePath(environment['HOME']);
  return home !== undefined && isWithin(realPath(path) ?? path, realPath(home) ?? home);
}

function findDotGit(start: string): PlaceFacts['dotGit'] {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.git');
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return { path, pointsTo: found.isFile() ? pointedTo(path) : undefined };
    if (dirname(folder) === folder) return undefined;
  }
}

/** Where a `.git` file says that the git directory is, if nothing is there. */
function pointedTo(path: string): string | undefined {
  try {
    const named = /^gitdir: (.+)$/m.exec(readPlainSync(path))?.[1];
    const target = named === undefined ? undefined : resolve(dirname(path), named);
    return target === undefined || statSync(target, { throwIfNoEntry: false }) !== undefined ? undefined : target;
  } catch {
    return undefined;
  }
}
