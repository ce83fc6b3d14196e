import { access } from 'node:fs/promises';
import { failpoint } from '../failpoint.ts';
import type { RemovalAnswer, RescueAnswer, Snapshot, SnapshotAnswer, Worktree } from '../ports/workspaces.ts';
import { checkWorktree, readHead } from './baseline.ts';
import { requireCommitId, requireName } from './git-call.ts';
import { attemptRef, commonCall, notePath, worktreePath, type GitContext } from './git-context.ts';
import { takeSnapshot } from './snapshot.ts';
import { findUsers } from './stale-locks.ts';
import { findUnproven, repositoriesAt } from './submodules.ts';
import { checkOut, clean, discardWorktree, noteDown, readNote } from './worktrees.ts';

export async function snapshotOf(context: GitContext, worktree: Worktree): Promise<SnapshotAnswer> {
  const changes = await checkWorktree(worktree);
  // Only what git would be led astray by; a config that changed is not read here, because the git directory is not used.
  const bad = changes.find((change) => change.problem === 'symbolic-head' || change.problem === 'removed');
  if (bad !== undefined) return { type: 'unreadable', reason: `${bad.file}: ${bad.problem}` };
  const index = notePath(context, worktree.run, `${worktree.task}.index`);
  return takeSnapshot(context.git, context.temporary, worktree, { index, sparse: context.sparse });
}

export async function rescue(context: GitContext, worktree: Worktree, attempt: string): Promise<RescueAnswer> {
  const [snapshot, before] = await Promise.all([
    snapshotOf(context, worktree),
    commitAt(context, attemptRef(requireName(worktree.run), requireName(attempt))),
  ]);
  if (snapshot.type !== 'snapshot') return snapshot;
  const { head, clean: isClean } = snapshot;
  return { type: 'kept', commit: await keepOver(context, worktree, attempt, snapshot, before), head, clean: isClean };
}

export async function moveWorktree(
  context: GitContext,
  worktree: Worktree,
  commit: string,
  attempt: string,
): Promise<Worktree | SnapshotAnswer> {
  const snapshot = await snapshotOf(context, worktree);
  if (snapshot.type !== 'snapshot') return snapshot;
  if (snapshot.clean && snapshot.head === commit && worktree.base === commit) return worktree;
  if (!snapshot.clean || snapshot.head !== worktree.base) await keep(context, worktree, requireName(attempt), snapshot);
  failpoint('git.rescued');
  const { path, git } = worktree.workspace;
  await checkOut(context, path, git.worktreeDirectory, requireCommitId(commit));
  await clean(context, path, git.worktreeDirectory);
  return noteDown(context, {
    run: worktree.run,
    task: worktree.task,
    base: commit,
    path,
    directory: git.worktreeDirectory,
  });
}

export async function standOn(
  context: GitContext,
  worktree: Worktree,
  commit: string,
  index: 'staged' | 'follows',
): Promise<void> {
  const { path, git } = worktree.workspace;
  const call = { cwd: path, gitDirectory: git.worktreeDirectory, workTree: path };
  // HEAD itself: were it symbolic, a branch would move.
  await context.git.text(['update-ref', '--no-deref', 'HEAD', commit], call);
  if (index === 'follows') await context.git.text(['read-tree', commit], call);
}

export async function removeWorktree(context: GitContext, worktree: Worktree, attempt: string): Promise<RemovalAnswer> {
  requireName(attempt);
  const known = await readNote(context, worktree.run, worktree.task);
  if (known === undefined) return { type: 'removed', rescued: false };
  const users = await findUsers(worktreePath(context, worktree.run, worktree.task));
  if (users.length > 0) return { type: 'refused', reason: 'in-use', detail: users.map((pid) => `process ${pid}`) };
  if (await isGone(known)) return discard(context, known, await keepHead(context, known, attempt));
  const snapshot = await snapshotOf(context, known);
  if (snapshot.type !== 'snapshot') return { type: 'refused', reason: 'unreadable', detail: [snapshot.reason] };
  const unproven = await findLosses(context, known, snapshot);
  if (unproven.length > 0) return { type: 'refused', reason: 'repositories', detail: unproven };
  if (snapshot.clean && snapshot.head === known.base) return discard(context, known, { rescued: false });
  const kept = await keep(context, known, attempt, snapshot);
  return discard(context, known, { kept, rescued: !snapshot.clean });
}

async function discard(
  context: GitContext,
  worktree: Worktree,
  answer: { kept?: string; rescued: boolean },
): Promise<RemovalAnswer> {
  failpoint('git.before-removal');
  const problem = await discardWorktree(context, worktree.run, worktree.task);
  if (problem !== undefined) return { type: 'refused', reason: 'not-deleted', detail: [problem] };
  failpoint('git.removed');
  return { type: 'removed', ...answer };
}

async function findLosses(context: GitContext, worktree: Worktree, snapshot: Snapshot): Promise<readonly string[]> {
  const { git, temporary, commonDirectory } = context;
  const now = await repositoriesAt(git, temporary, commonDirectory, snapshot.tree);
  if (now.size === 0) return [];
  const atBase = await repositoriesAt(git, temporary, commonDirectory, worktree.base);
  return findUnproven(git, temporary, worktree, atBase, now);
}

/** The commit at the attempt's ref: HEAD where that is all, else one on top of it with what nobody committed. */
async function keep(context: GitContext, worktree: Worktree, attempt: string, snapshot: Snapshot): Promise<string> {
  const before = await commitAt(context, attemptRef(requireName(worktree.run), requireName(attempt)));
  return keepOver(context, worktree, attempt, snapshot, before);
}

async function commitAt(context: GitContext, ref: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  const found = await context.git.run(args, commonCall(context));
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** `before`: what the attempt's ref held; when it holds something else by now, nothing is kept over it. */
async function keepOver(
  context: GitContext,
  worktree: Worktree,
  attempt: string,
  snapshot: Snapshot,
  before: string | undefined,
): Promise<string> {
  const { git } = context;
  const call = commonCall(context);
  const ref = attemptRef(requireName(worktree.run), requireName(attempt));
  if (before !== undefined && (await holds(context, before, snapshot))) return before;
  failpoint('git.before-rescue');
  // What the ref held stays reachable through the new commit.
  const old = before === undefined || (await isAncestor(context, before, snapshot.head)) ? [] : ['-p', before];
  const plain = snapshot.clean && old.length === 0;
  const message = `Uncommitted work of ${worktree.task}, kept by squad`;
  const commit = plain
    ? snapshot.head
    : await git.text(['commit-tree', snapshot.tree, '-p', snapshot.head, ...old, '-m', message], call);
  await git.text(['update-ref', '--no-deref', ref, commit, before ?? ''], call);
  failpoint('git.rescued');
  return commit;
}

/** A rescue that was made before, of the very same state. */
async function holds(context: GitContext, commit: string, snapshot: Snapshot): Promise<boolean> {
  const tree = await context.git.text(['rev-parse', `${commit}^{tree}`], commonCall(context));
  return tree === snapshot.tree && (await isAncestor(context, snapshot.head, commit));
}

export async function isAncestor(context: GitContext, ancestor: string, commit: string): Promise<boolean> {
  const { code } = await context.git.run(['merge-base', '--is-ancestor', ancestor, commit], commonCall(context));
  return code === 0;
}

export async function mergeBase(context: GitContext, one: string, other: string): Promise<string | undefined> {
  const answer = await context.git.run(['merge-base', one, other], commonCall(context));
  return answer.code === 0 ? answer.stdout.trim() : undefined;
}

/** The folder was deleted by somebody; what was committed in it is not lost. */
async function keepHead(
  context: GitContext,
  worktree: Worktree,
  attempt: string,
): Promise<{ kept?: string; rescued: boolean }> {
  const head = await readHead(worktree);
  if (head === undefined || head === worktree.base) return { rescued: false };
  const found = await context.git.run(['rev-parse', '--verify', '--quiet', `${head}^{tree}`], commonCall(context));
  if (found.code !== 0) return { rescued: false };
  const committed = { type: 'snapshot' as const, head, tree: found.stdout.trim(), clean: true };
  return { kept: await keep(context, worktree, attempt, committed), rescued: false };
}

async function isGone(worktree: Worktree): Promise<boolean> {
  return access(worktree.workspace.path).then(
    () => false,
    () => true,
  );
}
