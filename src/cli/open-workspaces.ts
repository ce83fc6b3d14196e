import { join } from 'node:path';
import type { Host, Machine } from '../machine.ts';
import type { OpenedWorkspace } from '../squad/open-run.ts';
import { createGitWorkspaces } from '../substrate/git/git-workspaces.ts';
import { inspectRepository } from '../substrate/git/inspect-repository.ts';
import { holderHere, lockWorkspace } from '../substrate/ledger/index.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';

/** Works on the folders and refs of runs, under the workspace's lock: throws `workspace-busy` while an engine is running. */
export async function withWorkspaces<T>(
  host: Pick<Host, 'pid' | 'stateHome'>,
  opened: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
): Promise<T> {
  const lock = lockWorkspace(opened.directory, holderHere(host.pid, opened.composition.clock.now()));
  try {
    return await lookIntoWorkspaces(host, opened, work);
  } finally {
    lock.release();
  }
}

/** The same without the lock, for `work` that changes nothing. */
export async function lookIntoWorkspaces<T>(
  { stateHome }: Pick<Host, 'stateHome'>,
  { repository, composition: { git } }: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
): Promise<T> {
  const report = await inspectRepository(git, repository.root);
  const workspaces = createGitWorkspaces({ ...git, stateDirectory: join(stateHome, 'squad') }, report);
  try {
    return await work(workspaces);
  } finally {
    await workspaces.close();
  }
}
