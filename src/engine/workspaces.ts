import type { Composition, Host } from './compose.ts';
import type { RunDefinition } from '../model/run.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { createGitWorkspaces } from '../substrate/git/git-workspaces.ts';
import type { RepositoryReport, Workspaces } from '../substrate/ports/workspaces.ts';

/** One folder for what is merged next, and one for checks. */
const ENGINES_OWN = 2;
const GB = 1e9;

/** The folders and refs of a run. Of one that makes no branch, the commit that it began with stands for its branch. */
export function workspacesOf(
  { git, host }: Pick<Composition, 'git'> & { readonly host: Host },
  repository: RepositoryReport,
  directory: string,
  run?: Pick<RunDefinition, 'makesBranch' | 'repository' | 'limits' | 'folders' | 'sparse'>,
): Workspaces {
  const isReused = run !== undefined && run.folders !== 'new';
  const spares = {
    most: isReused ? run.limits.parallel + ENGINES_OWN : 0,
    ...(run === undefined ? {} : { freeBytes: run.limits.freeDisk * GB }),
  };
  const places = { ...workspacePlaces(host, directory), spares, sparse: run?.sparse };
  const workspaces = createGitWorkspaces({ ...git, ...places }, repository);
  if (run?.makesBranch !== false) return workspaces;
  return {
    ...workspaces,
    createRunBranch: () => Promise.resolve({ type: 'ready' }),
    runHead: () => Promise.resolve(run.repository.base),
    checkoutOf: () => Promise.resolve(undefined),
  };
}
