import { type FileHandle, lstat, mkdir, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../system/failpoint.ts';
import { exists } from '../system/files/exists.ts';
import { withScratch } from '../system/files/scratch.ts';
import { scratchLabel } from '../system/process/left-scratch.ts';
import {
  createGit,
  type Git,
  type GitCall,
  gitFailed,
  type GitPorts,
  requireCommitId,
  splitEntries,
} from './git-call.ts';
import { parseMergeTree } from './integration.ts';
import { type MergeCalls, prepareCalls, readDiffText } from './merge-calls.ts';
import { type MergeJournal, removeJournal } from './merge-journal.ts';
import { listFiltered, listUnlikeMerge, listUntracked } from './merge-losses.ts';
import type { BranchCheckout, MergeAnswer, MergeOrder } from './merge-order.ts';
import { recoverMerge } from './merge-recovery.ts';
import { moveCheckout } from './move-checkout.ts';
import { NOT_THERE, parseRawDiff, type RawChange } from './raw-diff.ts';
import type { Repository } from './repository.ts';

const CHUNK = 1 << 20;

/**
 * Runs no hook, filter, driver or editor. Changes nothing before `moveCheckout`. After a kill in there, the same call again finishes the
 * work by the journal (`merge-journal.ts`), and touches no uncommitted change that may stay.
 */
export async function mergeIntoCheckout(
  ports: GitPorts,
  repository: BranchCheckout,
  order: MergeOrder,
): Promise<MergeAnswer> {
  const git = createGit(ports);
  const cut = await recoverMerge(repository, ports.stateDirectory);
  const busy = await findOperation(repository);
  if (busy !== undefined) return { type: 'busy', with: busy };
  const work = async (folder: string): Promise<MergeAnswer> => {
    const calls = await prepareCalls(ports, git, repository, folder);
    const isOther = cut !== undefined && cut.commit !== order.commit;
    if (isOther && (await hasLeft(git, calls, repository, cut))) return { type: 'cut-short', run: cut.run };
    const made = await makeMerge(git, calls, repository.head, order);
    if (typeof made !== 'string') return made;
    await calls.share();
    const move = { from: repository.head, to: made };
    const dirty = await listDirty(git, calls.checkout);
    await git.text(['read-tree', made], calls.target);
    const changes = await listChanges(git, calls, move);
    const inTheWay = withoutKept(dirty, changes, order.mayStay);
    const untracked = await listUntracked(git, calls, repository.root, changes);
    const isCut = cut !== undefined && !isOther;
    const own = await findOwn(git, calls, repository, { changes, paths: [...inTheWay, ...untracked], isCut });
    const strange = inTheWay.filter((path) => !own.has(path));
    if (strange.length > 0) return { type: 'dirty', files: isCut ? strange : inTheWay };
    const isHalfDone = inTheWay.length + (isCut ? untracked.length : 0) > 0;
    const lost = isHalfDone ? untracked.filter((path) => !own.has(path)) : untracked;
    if (lost.length > 0) return { type: 'untracked', files: lost };
    const filtered = await listFiltered(git, calls, changes);
    if (filtered.length > 0) return { type: 'filtered', files: filtered };
    failpoint('merge.ready');
    const ready = isHalfDone ? changes.filter(({ path }) => own.has(path)) : [];
    const refused = await moveCheckout(git, calls, repository, { ...order, ...move, changes, made: ready });
    if (refused !== undefined) return refused;
    return mergedAs(order, move.from, made);
  };
  return withScratch(ports.stateDirectory, work, scratchLabel('merge'));
}

/** Whether the files of a merge that was cut short are in the checkout. Without them nothing has to be finished. */
async function hasLeft(git: Git, calls: MergeCalls, { root, gitDirectory }: Repository, cut: MergeJournal) {
  const changes = await listChanges(git, calls, cut);
  const dirty = await listDirty(git, calls.checkout);
  if (withoutKept(dirty, changes, () => true).length > 0) return true;
  if ((await listUntracked(git, calls, root, changes)).length > 0) return true;
  await removeJournal(gitDirectory);
  return false;
}

const OPERATIONS = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

async function findOperation({ gitDirectory }: Repository): Promise<string | undefined> {
  for (const name of OPERATIONS) if (await exists(join(gitDirectory, name))) return name;
  return undefined;
}

export function mergedAs({ commit, squash }: MergeOrder, from: string, made: string): MergeAnswer {
  const how = made === commit ? 'fast-forward' : squash === true ? 'squash' : 'merge';
  return { type: 'merged', how, from, commit: made };
}

/** The commit that the branch would have, or why there is none. */
export async function makeMerge(
  git: Git,
  { objects }: MergeCalls,
  head: string,
  { commit, message, squash = false }: MergeOrder,
): Promise<string | MergeAnswer> {
  const base = (await git.run(['merge-base', head, requireCommitId(commit)], objects)).stdout.trim();
  if (base === '') return { type: 'unrelated' };
  if (base === commit) return { type: 'already' };
  if (base === head && !squash) return commit;
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', head, commit];
  const merged = await git.run(args, objects);
  if (merged.code !== 0 && merged.code !== 1) throw gitFailed(args, merged);
  const { tree, paths } = parseMergeTree(merged.stdout);
  if (merged.code === 1) return { type: 'conflict', files: paths };
  const parents = squash ? [head] : [head, commit];
  // The history does not show that an earlier squash has brought it all.
  if (squash && tree === (await git.text(['rev-parse', `${head}^{tree}`], objects)).trim()) return { type: 'already' };
  return git.text(['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', message], objects);
}

async function listDirty(git: Git, call: GitCall): Promise<readonly string[]> {
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=dirty'];
  const { code, stdout, ...answer } = await git.run(args, call);
  if (code !== 0) throw gitFailed(args, { code, stdout, ...answer });
  return splitEntries(stdout).map((entry) => entry.slice(3));
}

async function listChanges(
  git: Git,
  calls: MergeCalls,
  { from, to }: Pick<MergeJournal, 'from' | 'to'>,
): Promise<readonly RawChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to];
  return parseRawDiff(await readDiffText(git, calls, args, calls.checkout));
}

/** The paths whose changes may not stay, or that the merge writes: a folder in place of a file too. */
function withoutKept(
  dirty: readonly string[],
  changes: readonly RawChange[],
  mayStay: MergeOrder['mayStay'] = () => false,
): readonly string[] {
  const written = new Set(changes.map(({ path }) => path));
  const above = new Set([...written].flatMap(foldersAbove));
  const isTouched = (path: string): boolean =>
    written.has(path) || above.has(path) || foldersAbove(path).some((folder) => written.has(folder));
  return dirty.filter((path) => !mayStay(path) || isTouched(path));
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/**
 * Those of these paths that hold nothing of a person's: each is changed by the merge, and already as it is there. `isCut`: or it is
 * there in part, because this merge was killed.
 */
async function findOwn(
  git: Git,
  calls: MergeCalls,
  repository: Repository,
  { changes, paths, isCut }: { changes: readonly RawChange[]; paths: readonly string[]; isCut: boolean },
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const written = new Map(changes.map((change) => [change.path, change]));
  const unlike = await listUnlikeMerge(git, calls);
  const known = paths.flatMap((path) => written.get(path) ?? []);
  const inPart = known.filter(({ path }) => isCut && unlike.has(path));
  const partial = inPart.length === 0 ? new Set() : await listPartial(git, calls, repository, inPart);
  const own = new Set<string>();
  for (const { path, newMode } of known) {
    // The index of the merge does not have a path that it deletes, so nothing has compared that yet.
    const isGone = newMode !== NOT_THERE || !(await isFile(join(repository.root, path)));
    if (unlike.has(path) ? partial.has(path) : isGone) own.add(path);
  }
  return own;
}

async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && !found.isDirectory();
}

/**
 * The paths of these changes where a git that was killed may have been at work: it removes the old file, and then writes the new one
 * from its first byte on. So nothing is there, or a beginning of the new file as git would write it.
 */
async function listPartial(
  git: Git,
  { target, folder }: MergeCalls,
  { root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>,
  changes: readonly RawChange[],
): Promise<ReadonlySet<string>> {
  const written = changes.filter(({ newMode }) => newMode !== NOT_THERE);
  const [whole, input] = [join(folder, 'whole'), join(folder, 'partial')];
  await mkdir(whole);
  await writeFile(input, written.map(({ path }) => `${path}\0`).join(''));
  // In a checkout of its own, so that attributes are those of the merge.
  await git.text(['checkout-index', '-f', '-z', '--stdin'], {
    ...target,
    ...{ cwd: whole, gitDirectory, workTree: whole, input },
  });
  const found = new Set<string>();
  for (const { path } of written) if (await isBeginning(join(root, path), join(whole, path))) found.add(path);
  return found;
}

/** Nothing is a beginning too. */
async function isBeginning(path: string, whole: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return true;
  const wanted = await lstat(whole).catch(() => undefined);
  if (wanted?.isFile() !== true || !found.isFile() || found.size > wanted.size) return false;
  const [some, all] = await Promise.all([open(path), open(whole)]);
  try {
    for (let at = 0; at < found.size; at += CHUNK) {
      const length = Math.min(CHUNK, found.size - at);
      const [one, other] = await Promise.all([some, all].map(async (file) => bytesAt(file, at, length)));
      if (one === undefined || other === undefined || !one.equals(other)) return false;
    }
    return true;
  } finally {
    await Promise.all([some.close(), all.close()]);
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position: at });
  return buffer.subarray(0, bytesRead);
}
