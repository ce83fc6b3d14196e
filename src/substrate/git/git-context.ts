import { join } from 'node:path';
import type { Processes } from '../ports/processes.ts';
import type { Git, GitCall } from './git-call.ts';
import type { RepositoryLock } from './repository-lock.ts';

/** What the parts of the git workspaces share. */
export interface GitContext {
  readonly git: Git;
  readonly processes: Processes;
  readonly commonDirectory: string;
  /** Of this repository: a folder for each run. */
  readonly runsDirectory: string;
  /** For index files and long outputs. Its path contains the marker of this engine's git processes. */
  readonly temporary: string;
  readonly marker: string;
  /** git cannot add or remove two worktrees at the same time. */
  readonly lock: RepositoryLock;
  /** For the integration worktrees and the run branches. Taken before `lock` if both are needed. */
  readonly integrationLock: RepositoryLock;
  readonly sparse: boolean;
}

/** A call outside of worktrees, for objects and refs. */
export function commonCall(context: GitContext): GitCall {
  return { cwd: context.commonDirectory, gitDirectory: context.commonDirectory };
}

export function worktreePath(context: GitContext, run: string, task: string): string {
  return join(context.runsDirectory, run, task);
}

/** The engine's notes about a worktree are next to it, because agents may write only inside. */
export function notePath(context: GitContext, run: string, name: string): string {
  return join(context.runsDirectory, run, '.squad', name);
}

export function runBranch(run: string): string {
  return `refs/heads/squad/${run}`;
}

export function attemptRef(run: string, attempt: string): string {
  return `refs/squad/${run}/${attempt}`;
}
