import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { failpoint } from '../failpoint.ts';
import type {
  AdvanceAnswer,
  Baseline,
  BranchAnswer,
  ConflictedFile,
  IntegrationAnswer,
  Worktree,
} from '../ports/workspaces.ts';
import { checkBaseline, checkWorktree } from './baseline.ts';
import { type GitCall, gitFailed, isCommitId, requireCommitId, requireName, findObject } from './git-call.ts';
import { attemptRef, commonCall, type GitContext, runBranch, tryUpdateRef, updateRef } from './git-context.ts';
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
    await updateRef(context, ref, base, '');
    failpoint('git.branch-created');
    return { type: 'ready' };
  });
}

/** Reads the ref's file, which is faster, and asks git only if the ref is packed. */
export async function headOf(context: GitContext, run: string): Promise<string | undefined> {
  const ref = runBranch(requireName(run));
  const text = await readFile(join(context.commonDirectory, ref), 'utf8').catch(() => '');
  if (isCommitId(text.trimEnd())) return text.trimEnd();
  return findObject(context.git, commonCall(context), `${ref}^{commit}`);
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
    const moved = await tryUpdateRef(context, ref, to, from);
    failpoint('git.advanced');
    if (moved.code === 0) return { type: 'advanced' };
    const head = await headOf(context, run);
    if (head === to) return { type: 'advanced' };
    // git refused although the branch is at the expected commit, so the repository is broken.
    if (head === from) throw gitFailed(['update-ref'], moved);
    return { type: 'moved', head };
  });
}

export async function keepAttempt(context: GitContext, run: string, attempt: string, commit: string): Promise<void> {
  const ref = attemptRef(requireName(run), requireName(attempt));
  await updateRef(context, ref, requireCommitId(commit));
}

export async function closeRun(context: GitContext, run: string): Promise<void> {
  requireName(run);
  const problem = await context.integrationLock.hold(async () => discardWorktree(context, run, INTEGRATION));
  if (problem === undefined) return;
  throw wrongEnvironment(`the integration worktree cannot be deleted: ${problem}`);
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

const MOST_FILES = 50;
const EXCERPT_CHARACTERS = 4000;

type MergeAnswer =
  | { readonly type: 'merged'; readonly tree: string }
  | { readonly type: 'conflict'; readonly files: readonly ConflictedFile[]; readonly messages: readonly string[] };

/**
 * Merges in the object database only, so nothing is half done after a kill. git reads `.gitattributes` in `call.workTree`.
 */
async function mergeTrees(context: GitContext, call: GitCall, ours: string, theirs: string): Promise<MergeAnswer> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--messages', '--end-of-options', ours, theirs];
  const answer = await context.git.run(args, call);
  // 0: clean, 1: conflicts, otherwise: failed.
  if (answer.code !== 0 && answer.code !== 1) throw gitFailed(args, answer);
  const { tree, paths, messages } = parseMergeTree(answer.stdout);
  if (answer.code === 0) return { type: 'merged', tree };
  const files: ConflictedFile[] = [];
  for (const path of paths.slice(0, MOST_FILES)) {
    const blob = await context.git.run(['cat-file', 'blob', `${tree}:${path}`], commonCall(context));
    files.push({ path, excerpt: blob.code === 0 ? excerptOf(blob.stdout) : '' });
  }
  return { type: 'conflict', files, messages };
}

/** The `-z` form: the tree, the files, an empty field, then messages of (count, paths, kind, text). */
export function parseMergeTree(text: string): { tree: string; paths: readonly string[]; messages: readonly string[] } {
  const [tree = '', ...fields] = text.split('\0');
  const end = fields.indexOf('');
  const paths = end < 0 ? fields : fields.slice(0, end);
  const messages: string[] = [];
  const rest = end < 0 ? [] : fields.slice(end + 1);
  for (let at = 0; /^\d+$/.test(rest[at] ?? '');) {
    const count = Number(rest[at]);
    const [kind = '', message = ''] = rest.slice(at + 1 + count, at + 3 + count);
    if (kind.startsWith('CONFLICT')) messages.push(message.trim());
    at += count + 3;
  }
  return { tree: tree.trim(), paths: [...new Set(paths)], messages };
}

/** The conflicting lines with markers and line numbers, cut to a length that fits a prompt. */
export function excerptOf(text: string): string {
  const kept: string[] = [];
  let open = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^<{7,}(?: |$)/.test(line)) {
      open = true;
      kept.push(`line ${index + 1}:`);
    }
    if (open) kept.push(line);
    if (/^>{7,}(?: |$)/.test(line)) open = false;
  }
  const excerpt = kept.join('\n');
  return excerpt.length > EXCERPT_CHARACTERS ? `${excerpt.slice(0, EXCERPT_CHARACTERS)}\n…` : excerpt;
}
