import { failpoint } from '../failpoint.ts';
import type { RescueAnswer, Snapshot, SnapshotAnswer, Worktree } from '../ports/workspaces.ts';
import { checkWorktree, readHead } from './baseline.ts';
import { requireName } from './git-call.ts';
import { attemptRef, commonCall, notePath, updateRef, type GitContext } from './git-context.ts';
import { takeSnapshot } from './snapshot.ts';

export async function snapshotOf(context: GitContext, worktree: Worktree): Promise<SnapshotAnswer> {
  const changes = await checkWorktree(worktree);
  // A changed config does not matter, because the snapshot does not use the worktree's git directory.
  const bad = changes.find((change) => change.problem === 'symbolic-head' || change.problem === 'removed');
  if (bad !== undefined) return { type: 'unreadable', reason: `${bad.file}: ${bad.problem}` };
  const index = notePath(context, worktree.run, `${worktree.task}.index`);
  return takeSnapshot(context, worktree, { index, sparse: context.sparse });
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

/** The commit of a folder that was deleted. */
export async function committedIn(context: GitContext, worktree: Worktree): Promise<Snapshot | undefined> {
  const head = await readHead(worktree);
  if (head === undefined) return undefined;
  const found = await context.git.run(['rev-parse', '--verify', '--quiet', `${head}^{tree}`], commonCall(context));
  return found.code === 0 ? { type: 'snapshot', head, tree: found.stdout.trim(), clean: true } : undefined;
}

/** The ref that keeps what is in the worktree and not in `commit`; undefined: there is no such work. */
export async function keepNumbered(
  context: GitContext,
  worktree: Worktree,
  { rescueAs, commit }: { rescueAs: string; commit: string },
  snapshot: Snapshot,
): Promise<string | undefined> {
  const { head, clean: isClean } = snapshot;
  if (isClean && (head === worktree.base || (await isAncestor(context, head, commit)))) return undefined;
  for (let number = 1; ; number += 1) {
    const name = requireName(number === 1 ? rescueAs : `${rescueAs}-${number}`);
    const ref = attemptRef(requireName(worktree.run), name);
    const before = await commitAt(context, ref);
    if (before === undefined) await keepOver(context, worktree, name, snapshot, undefined);
    // Kept before a crash.
    else if (!(isClean && (await isAncestor(context, head, before))) && !(await holds(context, before, snapshot)))
      continue;
    return ref;
  }
}

/** The commit at the attempt's ref: HEAD, or a commit on top of it with the uncommitted files. */
export async function keep(
  context: GitContext,
  worktree: Worktree,
  attempt: string,
  snapshot: Snapshot,
): Promise<string> {
  const before = await commitAt(context, attemptRef(requireName(worktree.run), requireName(attempt)));
  return keepOver(context, worktree, attempt, snapshot, before);
}

async function commitAt(context: GitContext, ref: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`];
  const found = await context.git.run(args, commonCall(context));
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** `before`: the ref's commit as the caller saw it. git refuses if the ref has moved since. */
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
  // The ref's earlier commit stays reachable through the new one.
  const old = before === undefined || (await isAncestor(context, before, snapshot.head)) ? [] : ['-p', before];
  const plain = snapshot.clean && old.length === 0;
  const message = `Uncommitted work of ${worktree.task}, kept by squad`;
  const commit = plain
    ? snapshot.head
    : await git.text(['commit-tree', snapshot.tree, '-p', snapshot.head, ...old, '-m', message], call);
  await updateRef(context, ref, commit, before ?? '');
  failpoint('git.rescued');
  return commit;
}

/** The commit is an earlier rescue of the same state. */
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
