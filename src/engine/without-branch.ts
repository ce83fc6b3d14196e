import type { RunDefinition } from '../model/run.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';

/** For a run that makes no branch, the commit that it began with stands in for the branch. */
export function withoutBranch(
  workspaces: Workspaces,
  { makesBranch, repository: { base } }: Pick<RunDefinition, 'makesBranch' | 'repository'>,
): Workspaces {
  if (makesBranch !== false) return workspaces;
  return {
    ...workspaces,
    createRunBranch: () => Promise.resolve({ type: 'ready' }),
    runHead: () => Promise.resolve(base),
    checkoutOf: () => Promise.resolve(undefined),
  };
}
