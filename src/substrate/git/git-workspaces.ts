import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskError, storageError } from '../../model/storage-error.ts';
import { agentSettings } from './neutral-settings.ts';
import { checkBaseline, checkRemote, takeBaseline } from './baseline.ts';
import { dropRefs, listHalfMade, listWorktrees, removeRunFolder } from './cleaning.ts';
import { changedFiles, commitsBetween, diffStat, isFileAt } from './evidence.ts';
import { createGit, requireCommitId, type GitPorts } from './git-call.ts';
import type { GitContext } from './git-context.ts';
import {
  advance,
  closeRun,
  createRunBranch,
  headOf,
  integrate,
  integrationAt,
  keepAttempt,
  removeRefLocks,
} from './integration.ts';
import { moveWorktree, removeWorktree, resetWorktree, standOn } from './removal.ts';
import { createRepositoryLock } from './repository-lock.ts';
import { isAncestor, mergeBase, rescue, snapshotOf } from './rescue.ts';
import { tidyWorktree } from './stale-locks.ts';
import { addWorktree, endProcesses } from './worktrees.ts';
import type { Clock } from '../ports/clock.ts';
import type { RepositoryReport, Workspaces } from '../ports/workspaces.ts';

/** `stateDirectory` is squad's own (`$XDG_STATE_HOME/squad`). Has no side effects until a method is called. */
export function createGitWorkspaces(
  ports: GitPorts & { readonly clock: Clock; readonly stateDirectory: string },
  repository: Pick<RepositoryReport, 'commonDirectory' | 'key' | 'sparse'>,
): Workspaces {
  const context = createContext(ports, repository);
  const { git, commonDirectory } = context;
  // The TMPDIR of every git process, so it must exist before the first.
  const ready = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      mkdirSync(context.temporary, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw storageError(context.temporary, error);
    }
    try {
      return await work();
    } catch (error) {
      throw diskError(context.temporary, error);
    }
  };
  return {
    takeBaseline: () => ready(() => takeBaseline(git, commonDirectory)),
    checkBaseline: (baseline, worktree) => ready(() => checkBaseline(git, commonDirectory, baseline, worktree)),
    checkRemote: (baseline, remote) => ready(() => checkRemote(git, commonDirectory, baseline, remote)),
    agentSettings: () => ready(() => agentSettings(ports, git, commonDirectory)),
    addWorktree: (place) => ready(() => addWorktree(context, place)),
    moveWorktree: (worktree, commit, attempt) => ready(() => moveWorktree(context, worktree, commit, attempt)),
    standOn: (worktree, commit, index) => ready(() => standOn(context, worktree, requireCommitId(commit), index)),
    tidyWorktree: (worktree) => tidyWorktree(ports.clock, worktree),
    snapshot: (worktree) => ready(() => snapshotOf(context, worktree)),
    rescue: (worktree, attempt) => ready(() => rescue(context, worktree, attempt)),
    removeWorktree: (worktree, attempt) => ready(() => removeWorktree(context, worktree, attempt)),
    resetWorktree: (worktree, order) => ready(() => resetWorktree(context, worktree, order)),
    keepAttempt: (run, attempt, commit) => ready(() => keepAttempt(context, run, attempt, commit)),
    createRunBranch: (run, base) => ready(() => createRunBranch(context, run, base)),
    runHead: (run) => ready(() => headOf(context, run)),
    integrate: (work) => ready(() => integrate(context, work)),
    integrationAt: (run, candidate) => ready(() => integrationAt(context, run, candidate)),
    advance: (run, from, to) => ready(() => advance(context, run, from, to)),
    close: () => rm(context.temporary, { recursive: true, force: true }),
    closeRun: (run) => ready(() => closeRun(context, run)),
    listWorktrees: (run) => listWorktrees(context, run),
    listHalfMade: (run) => listHalfMade(context, run),
    removeRunFolder: (run) => removeRunFolder(context, run),
    dropRefs: (run, keep) => ready(() => dropRefs(context, run, keep)),
    commitsBetween: (base, commit) => ready(() => commitsBetween(context, base, commit)),
    changedFiles: (base, commit) => ready(() => changedFiles(context, base, commit)),
    diffStat: (base, commit) => ready(() => diffStat(context, base, commit)),
    mergeBase: (one, other) => ready(() => mergeBase(context, requireCommitId(one), requireCommitId(other))),
    isAncestor: (ancestor, commit) =>
      ready(() => isAncestor(context, requireCommitId(ancestor), requireCommitId(commit))),
    isFileAt: (commit, path) => ready(() => isFileAt(context, commit, path)),
  };
}

function createContext(
  ports: GitPorts & { readonly clock: Clock; readonly stateDirectory: string },
  repository: Pick<RepositoryReport, 'commonDirectory' | 'key' | 'sparse'>,
): GitContext {
  const { commonDirectory, key, sparse } = repository;
  const marker = `git-${randomUUID()}`;
  // A folder of this name in TMPDIR is how a process shows its marker (`carriesMarker`).
  const scratch = (of: string): string => join(ports.stateDirectory, 'git-scratch', `squad-${of}`);
  // Ends the git processes of a dead engine before its files are touched.
  const recover = async (dead: string): Promise<void> => {
    await endProcesses(context, dead);
    await removeRefLocks(context);
    if (/^git-[0-9a-f-]{36}$/.test(dead)) await rm(scratch(dead), { recursive: true, force: true });
  };
  const lockOf = (name: 'worktrees' | 'integration') =>
    createRepositoryLock({ commonDirectory, name, marker, clock: ports.clock, recover });
  const context: GitContext = {
    git: createGit(ports, scratch(marker)),
    processes: ports.processes,
    commonDirectory,
    runsDirectory: join(ports.stateDirectory, key),
    temporary: scratch(marker),
    marker,
    lock: lockOf('worktrees'),
    integrationLock: lockOf('integration'),
    sparse,
  };
  return context;
}
