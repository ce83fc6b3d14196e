import type { Host, Machine } from '../engine/machine.ts';
import type { OpenedWorkspace } from '../squad/open-run.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { createGitWorkspaces } from '../substrate/git/git-workspaces.ts';
import { requireWritable } from '../substrate/git/require-writable.ts';
import { inspectRepository } from '../substrate/git/inspect-repository.ts';
import { holderHere, lockWorkspace } from '../substrate/ledger/index.ts';
import type { Workspaces } from '../substrate/ports/workspaces.ts';

/** Works on the folders and refs of runs, under the workspace's lock: throws `workspace-busy` while an engine is running. */
export async function withWorkspaces<T>(
  host: Pick<Host, 'pid' | 'stateDirectory'>,
  opened: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
): Promise<T> {
  await requireWritable(opened.repository, host.stateDirectory);
  const lock = lockWorkspace(opened.directory, holderHere(host.pid, opened.composition.clock.now()));
  try {
    return await lookIntoWorkspaces(host, opened, work);
  } finally {
    lock.release();
  }
}

/** Takes no lock, so `work` must change nothing. */
export async function lookIntoWorkspaces<T>(
  host: Pick<Host, 'stateDirectory'>,
  { repository, directory, composition: { git } }: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
): Promise<T> {
  const report = await inspectRepository(git, repository.root);
  const workspaces = createGitWorkspaces({ ...git, ...workspacePlaces(host, directory) }, report);
  try {
    return await work(workspaces);
  } finally {
    await workspaces.close();
  }
}
