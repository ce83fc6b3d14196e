import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { failpoint } from '../failpoint.ts';
import type { AdvanceAnswer, Baseline, BranchAnswer, IntegrationAnswer, Worktree } from '../ports/workspaces.ts';
import { checkBaseline, checkWorktree } from './baseline.ts';
import { gitFailed, isCommitId, requireCommitId, requireName } from './git-call.ts';
import { attemptRef, commonCall, runBranch, type GitContext } from './git-context.ts';
import { mergeTrees } from './merge.ts';
import { neutralDrivers } from './neutral-settings.ts';
import { removeStaleLocks } from './stale-locks.ts';
import { findEscapingLinks } from './symbolic-links.ts';
import { addWorktree, checkOut, clean, discardWorktree, INTEGRATION } from './worktrees.ts';

export async function createRunBranch(context: GitContext, run: string, base: string): Promise<BranchAnswer> {
  const ref = runBranch(requireName(run));
  requireCommitId(base);
  return context.integrationLock.hold(async () => {
    const before = await headOf(context, run);
    if (before !== undefined) return before === base ? { type: 'ready' } : { type: 'taken', head: before };
    // The empty old value makes git refuse if the branch exists by now.
    await context.git.text(['update-ref', '--no-deref', ref, base, ''], commonCall(context));
    failpoint('git.branch-created');
    return { type: 'ready' };
  });
}

/** Reads the ref's file, which is faster, and asks git only if the ref is packed. */
export async function headOf(context: GitContext, run: string): Promise<string | undefined> {
  const ref = runBranch(requireName(run));
  const text = await readFile(join(context.commonDirectory, ref), 'utf8').catch(() => '');
  if (isCommitId(text.trimEnd())) return text.trimEnd();
  const found = await context.git.run(
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`],
    commonCall(context),
  );
  return found.code === 0 ? found.stdout.trim() : undefined;
}

export async function integrate(
  context: GitContext,
  work: { run: string; commit: string; message: string; baseline: Baseline },
): Promise<IntegrationAnswer> {
  const { run, commit } = work;
  requireCommitId(commit);
  return context.integrationLock.hold(async () => {
    const onto = await headOf(context, run);
    if (onto === undefined) return { type: 'refused', reason: 'gone' };
    const baseline = await checkBaseline(context.git, context.commonDirectory, work.baseline);
    if (baseline.type === 'changed') return { type: 'refused', reason: 'baseline', changes: baseline.changes };
    const made = await makeCandidate(context, work, onto);
    if (typeof made !== 'string') return made;
    failpoint('git.candidate-made');
    return { type: 'candidate', commit: made, onto };
  });
}

export async function integrationAt(context: GitContext, run: string, candidate: string): Promise<Worktree> {
  requireName(run);
  return context.integrationLock.hold(async () => showIn(context, run, requireCommitId(candidate)));
}

/** Compare and swap. If the branch has moved already, the answer says where it is. */
export async function advance(context: GitContext, run: string, from: string, to: string): Promise<AdvanceAnswer> {
  const ref = runBranch(requireName(run));
  requireCommitId(from);
  requireCommitId(to);
  return context.integrationLock.hold(async () => {
    const paths = await findCheckouts(context, ref);
    if (paths.length > 0) {
      return (await headOf(context, run)) === to ? { type: 'advanced' } : { type: 'checked-out', paths };
    }
    failpoint('git.before-advance');
    const args = ['update-ref', '--no-deref', ref, to, from];
    const moved = await context.git.run(args, commonCall(context));
    failpoint('git.advanced');
    if (moved.code === 0) return { type: 'advanced' };
    const head = await headOf(context, run);
    if (head === to) return { type: 'advanced' };
    // git refused although the branch is at the expected commit, so the repository is broken.
    if (head === from) throw gitFailed(args, moved);
    return { type: 'moved', head };
  });
}

export async function keepAttempt(context: GitContext, run: string, attempt: string, commit: string): Promise<void> {
  const ref = attemptRef(requireName(run), requireName(attempt));
  await context.git.text(['update-ref', '--no-deref', ref, requireCommitId(commit)], commonCall(context));
}

export async function closeRun(context: GitContext, run: string): Promise<void> {
  requireName(run);
  const problem = await context.integrationLock.hold(async () => discardWorktree(context, run, INTEGRATION));
  if (problem === undefined) return;
  throw new SquadError({
    code: 'wrong-environment',
    message: `the integration worktree cannot be deleted: ${problem}`,
  });
}

/** Removes the locks that a killed git left on refs below `squad`, which only the engine moves. */
export async function removeRefLocks(context: GitContext): Promise<void> {
  for (const folder of ['refs/heads/squad', 'refs/squad']) {
    const root = join(context.commonDirectory, folder);
    const names = await readdir(root, { recursive: true }).catch(() => []);
    for (const name of names.filter((item) => item.endsWith('.lock'))) await rm(join(root, name), { force: true });
  }
}

async function makeCandidate(
  context: GitContext,
  { run, commit, message }: { run: string; commit: string; message: string },
  onto: string,
): Promise<string | IntegrationAnswer> {
  const { git } = context;
  const call = commonCall(context);
  const [links, base, trees] = await Promise.all([
    findEscapingLinks(context, onto, commit),
    git.run(['merge-base', onto, commit], call),
    git.text(['rev-parse', `${onto}^{tree}`, `${commit}^{tree}`], call),
  ]);
  if (links.length > 0) return { type: 'refused', reason: 'escaping-links', links };
  if (base.code !== 0) return { type: 'refused', reason: 'unrelated-history' };
  const shared = base.stdout.trim();
  if (shared === commit) return { type: 'empty', onto };
  const [before = '', after = ''] = trees.split('\n');
  if (shared === onto) return after === before ? { type: 'empty', onto } : commit;
  const place = await showIn(context, run, onto);
  const environment = await neutralDrivers(git, context.commonDirectory);
  // In the folder, where git reads `.gitattributes`.
  const { path } = place.workspace;
  const merged = await mergeTrees(context, { ...call, cwd: path, workTree: path, environment }, onto, commit);
  if (merged.type === 'conflict') return { ...merged, onto };
  failpoint('git.merged');
  if (merged.tree === before) return { type: 'empty', onto };
  // Two harmless links can escape together, which shows only in the merged tree.
  const made = await git.text(['commit-tree', merged.tree, '-p', onto, '-p', commit, '-m', message], call);
  const mergedLinks = await findEscapingLinks(context, onto, made);
  return mergedLinks.length > 0 ? { type: 'refused', reason: 'escaping-links', links: mergedLinks } : made;
}

/**
 * The integration worktree at a commit. No agent works in it, so changes by a killed engine or a verify command are discarded,
 * and the whole worktree if that fails. Ignored files stay, because they make the next verify fast.
 */
async function showIn(context: GitContext, run: string, commit: string): Promise<Worktree> {
  const place = { run, task: INTEGRATION, commit };
  const worktree = await addWorktree(context, place);
  const broken = (await checkWorktree(worktree)).length > 0 || (await removeStaleLocks(worktree)).held.length > 0;
  try {
    if (broken) throw new Error('the integration worktree was changed');
    failpoint('git.before-checkout');
    const { path, git } = worktree.workspace;
    await checkOut(context, path, git.worktreeDirectory, commit);
    await clean(context, path, git.worktreeDirectory);
    failpoint('git.checked-out');
    return worktree;
  } catch {
    // If a new worktree fails too, its error is thrown.
    await discardWorktree(context, run, INTEGRATION);
    return addWorktree(context, { ...place, remade: (worktree.remade ?? 0) + 1 });
  }
}

/** Checkouts of this branch: the user's own, or any worktree. */
async function findCheckouts(context: GitContext, ref: string): Promise<readonly string[]> {
  const common = context.commonDirectory;
  const names = await readdir(join(common, 'worktrees')).catch(() => []);
  const folders = [common, ...names.map((name) => join(common, 'worktrees', name))];
  const found: string[] = [];
  for (const folder of folders) {
    const head = await readFile(join(folder, 'HEAD'), 'utf8').catch(() => '');
    if (head.trim() !== `ref: ${ref}`) continue;
    const pointer = await readFile(join(folder, 'gitdir'), 'utf8').catch(() => folder);
    found.push(join(pointer.trim(), '..'));
  }
  return found;
}
