import { mkdir, writeFile } from 'node:fs/promises';
import { mergeBase } from './ancestry.ts';
import { discardFolder } from './discard-folder.ts';
import { dirname, join } from 'node:path';
import { failpoint } from '../system/failpoint.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import type {
  AdvanceAnswer,
  BranchAnswer,
  ConflictedFile,
  IntegrationAnswer,
  TaskFolder,
} from '../ports/workspaces.ts';
import { INTEGRATION } from './folder-note.ts';
import { addFolder, bringTo } from './folders.ts';
import { type GitCall, gitFailed, requireCommitId, requireName } from './git-call.ts';
import { attemptRef, notePath, runBranch, userCall, type GitContext, type RunRepository } from './git-context.ts';
import { openRun } from './open-run.ts';
import { emptyTree, readRawDiff } from './raw-diff.ts';
import { headOf } from './run-branch.ts';
import { claimedBy, claimWithBranch } from './run-claim.ts';
import { pin, publishRef, unpin } from './run-repository.ts';
import { findUsers } from '../system/process/folder-users.ts';
import { findEscapingLinks } from './symbolic-links.ts';

export async function createRunBranch(
  context: GitContext,
  run: string,
  base: string,
  pins: readonly string[],
  owner: string | undefined,
): Promise<BranchAnswer> {
  const ref = runBranch(requireName(run));
  for (const commit of [base, ...pins]) requireCommitId(commit);
  const before = await headOf(context, run);
  const claimed = owner === undefined ? undefined : await claimedBy(context.git, userCall(context), run);
  if (claimed !== owner && (claimed !== undefined || before !== undefined))
    return { type: 'taken', head: before ?? base };
  const isOwn = owner !== undefined && claimed === owner;
  // A claimed branch that a person has moved is the question of the run, once it delivers.
  if (before !== undefined && before !== base && !isOwn) return { type: 'taken', head: before };
  const repository = await openRun(context, run);
  for (const commit of [base, ...pins]) await pin(context, repository, commit);
  if (before !== undefined) return { type: 'ready' };
  if (owner !== undefined && claimed === undefined) {
    const isMade = await claimWithBranch(context, repository, { run, owner, branch: ref, base });
    failpoint('git.branch-created');
    return isMade ? { type: 'ready' } : { type: 'taken', head: (await headOf(context, run)) ?? base };
  }
  // The empty old value makes git refuse if the branch exists by now.
  const made = await context.talk.move(ref, base, '');
  failpoint('git.branch-created');
  const head = await headOf(context, run);
  if (head === base) return { type: 'ready' };
  if (head === undefined) throw gitFailed(['update-ref'], made);
  return { type: 'taken', head };
}

export async function integrate(
  context: GitContext,
  work: { run: string; commit: string; message: string },
): Promise<IntegrationAnswer> {
  const repository = await openRun(context, work.run);
  requireCommitId(work.commit);
  const onto = await headOf(context, work.run);
  if (onto === undefined) return { type: 'refused', reason: 'gone' };
  const made = await makeCandidate(context, repository, work, onto);
  if (typeof made !== 'string') return made;
  failpoint('git.candidate-made');
  return { type: 'candidate', commit: made, onto };
}

/** Compare and swap. If the branch has moved already, the answer says where it is. */
export async function advance(context: GitContext, run: string, from: string, to: string): Promise<AdvanceAnswer> {
  const ref = runBranch(requireName(run));
  requireCommitId(from);
  const repository = await openRun(context, run);
  failpoint('git.before-advance');
  const moved = await publishRef(context, repository, ref, requireCommitId(to), from);
  failpoint('git.advanced');
  if (moved.code === 0) {
    await unpin(context, repository, to);
    return { type: 'advanced' };
  }
  const head = await headOf(context, run);
  if (head === to) return { type: 'advanced' };
  // git refused although the branch is at the expected commit, so the repository is broken.
  if (head === from) throw gitFailed(['update-ref'], moved);
  return { type: 'moved', head };
}

export async function keepAttempt(context: GitContext, run: string, attempt: string, commit: string): Promise<void> {
  const ref = attemptRef(requireName(run), requireName(attempt));
  requireCommitId(commit);
  const kept = await publishRef(context, await openRun(context, run), ref, commit);
  if (kept.code !== 0) throw gitFailed(['update-ref'], kept);
}

/** One caller after the other, because all share one folder. */
export async function integrationAt(context: GitContext, run: string, candidate: string): Promise<TaskFolder> {
  const filled = context.integration.then(() => fillIntegration(context, run, candidate));
  context.integration = filled.catch(() => undefined);
  return filled;
}

/** No agent works in this folder, so it can be deleted if something in it is broken. Ignored files stay, which saves time. */
async function fillIntegration(context: GitContext, run: string, candidate: string): Promise<TaskFolder> {
  const place = { run, task: INTEGRATION, commit: requireCommitId(candidate) };
  const made = await addFolder(context, place);
  try {
    failpoint('git.before-checkout');
    // A command that an earlier engine began may still run there.
    const isInUse = made.base === candidate && findUsers(made.workspace.path).length > 0;
    const folder = made.fresh === true || isInUse ? made : await bringTo(context, made, candidate);
    failpoint('git.checked-out');
    return folder;
  } catch {
    // If a new folder fails too, its error is thrown.
    await discardFolder(context, run, INTEGRATION);
    return addFolder(context, { ...place, remade: (made.remade ?? 0) + 1 });
  }
}

async function makeCandidate(
  context: GitContext,
  repository: RunRepository,
  { commit, message }: { commit: string; message: string },
  onto: string,
): Promise<string | IntegrationAnswer> {
  const { git } = context;
  const { call, talk } = repository;
  const [links, shared, before, after] = await Promise.all([
    findEscapingLinks(context, onto, commit),
    mergeBase(context, onto, commit),
    talk.commit(onto),
    talk.commit(commit),
  ]);
  if (links.length > 0) return { type: 'refused', reason: 'escaping-links', links };
  if (shared === undefined) return { type: 'refused', reason: 'unrelated-history' };
  if (shared === commit) return { type: 'empty', onto };
  if (shared === onto) return after?.tree === before?.tree ? { type: 'empty', onto } : commit;
  const merged = await mergeTrees(
    context,
    { ...call, ...(await showAttributes(context, repository, onto)) },
    onto,
    commit,
  );
  if (merged.type === 'conflict') return { ...merged, onto };
  failpoint('git.merged');
  if (merged.tree === before?.tree) return { type: 'empty', onto };
  // Two harmless links can escape together, which shows only in the merged tree.
  const made = await git.text(['commit-tree', merged.tree, '-p', onto, '-p', commit, '-m', message], call);
  const mergedLinks = await findEscapingLinks(context, onto, made);
  if (mergedLinks.length > 0) return { type: 'refused', reason: 'escaping-links', links: mergedLinks };
  // It waits for `verify`, and shares objects with the user's repository.
  await pin(context, repository, made);
  return made;
}

/** A folder with the `.gitattributes` of a commit and nothing else. git reads them while it merges, only from a work tree. */
async function showAttributes(context: GitContext, { run, call }: RunRepository, commit: string) {
  const folder = notePath(context, run, 'attributes');
  const files = await readRawDiff(context, call, emptyTree(commit), commit, ':(glob)**/.gitattributes');
  await deleteFolder(folder);
  await mkdir(folder);
  for (const { path, newObject, newMode } of files) {
    if (!newMode.startsWith('100')) continue;
    const text = await context.git.text(['cat-file', 'blob', newObject], call);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${text}\n`);
  }
  return { cwd: folder, workTree: folder };
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
    const blob = await context.git.run(['cat-file', 'blob', `${tree}:${path}`], call);
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
