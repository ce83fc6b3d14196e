import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Processes } from '../ports/processes.ts';
import { gitFailed, type Git, type GitAnswer, type GitCall } from './git-call.ts';
import type { RepositoryLock } from './repository-lock.ts';

/** The context that the parts of the git workspaces share. */
export interface GitContext {
  readonly git: Git;
  readonly processes: Processes;
  readonly commonDirectory: string;
  /** This repository's folder, with one folder for each run. */
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

/**
 * Moves or deletes a ref below `squad`. If git was killed in it, removes the lock that it may have left, which would block every
 * later move. No other git can have that lock, because only the caller moves this ref.
 */
export async function tryUpdateRef(context: GitContext, ref: string, ...values: readonly string[]): Promise<GitAnswer> {
  const answer = await context.git.run(['update-ref', '--no-deref', ref, ...values], commonCall(context));
  if (answer.code === null) await rm(join(context.commonDirectory, `${ref}.lock`), { force: true });
  return answer;
}

/** Like `tryUpdateRef`, but throws `wrong-environment` if git fails. */
export async function updateRef(context: GitContext, ref: string, ...values: readonly string[]): Promise<void> {
  const answer = await tryUpdateRef(context, ref, ...values);
  if (answer.code !== 0) throw gitFailed(['update-ref'], answer);
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
