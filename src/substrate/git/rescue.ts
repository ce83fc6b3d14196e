import { failpoint } from '../system/failpoint.ts';
import { isAncestor } from './ancestry.ts';
import type { RescueAnswer, Snapshot, SnapshotAnswer, TaskFolder } from '../ports/workspaces.ts';
import { gitFailed, requireName } from './git-call.ts';
import { anyPlace, attemptRef, folderPath, notePath, type GitContext } from './git-context.ts';
import { openRun } from './open-run.ts';
import { readTree } from './read-folder.ts';
import { publishRef } from './run-repository.ts';
import { coneOf } from './sparse-cone.ts';
import { takeHead } from './take-commit.ts';

/**
 * The folder's files, by an index of the engine. The agent's index could hide changes; it is not used or changed. `instead`: stands for
 * a HEAD whose commits have files that squad had copied there.
 */
export async function snapshotOf(
  context: GitContext,
  { run, task }: Pick<TaskFolder, 'run' | 'task'>,
  instead?: string,
): Promise<SnapshotAnswer> {
  const repository = await openRun(context, run);
  const path = folderPath(context, run, task);
  const taken = await takeHead(context, repository, task);
  const head = taken.type === 'head' ? taken.commit : taken.hasCopies === true ? instead : undefined;
  if (head === undefined) return { type: 'unreadable', reason: taken.type === 'head' ? '' : taken.reason };
  const { call, talk } = repository;
  const index = notePath(context, run, `${task}.index`);
  const committed = (await talk.commit(head))?.tree;
  if (committed === undefined) return { type: 'unreadable', reason: `the commit ${head} is not there` };
  const cone = coneOf(repository, task);
  const now = await readTree(context, { folder: path, call, commit: head, tree: committed, index, cone });
  if (now.type !== 'tree') return now;
  return { type: 'snapshot', head, tree: now.tree, clean: now.tree === committed };
}

export async function rescue(context: GitContext, folder: TaskFolder, attempt: string): Promise<RescueAnswer> {
  requireName(attempt);
  const snapshot = await snapshotOf(context, folder);
  if (snapshot.type !== 'snapshot') return snapshot;
  const { head, clean: isClean } = snapshot;
  return { type: 'kept', commit: await keep(context, folder, attempt, snapshot), head, clean: isClean };
}

/** The ref that keeps what is in the folder and not in `commit`; undefined: there is no such work. */
export async function keepNumbered(
  context: GitContext,
  folder: TaskFolder,
  { rescueAs, commit }: { rescueAs: string; commit: string },
  snapshot: Snapshot,
): Promise<string | undefined> {
  const { head, clean: isClean } = snapshot;
  if (isClean && (head === folder.base || (await isAncestor(context, head, commit)))) return undefined;
  for (let number = 1; ; number += 1) {
    const name = requireName(number === 1 ? rescueAs : `${rescueAs}-${number}`);
    const ref = attemptRef(requireName(folder.run), name);
    const before = await commitAt(context, ref);
    if (before === undefined) await keep(context, folder, name, snapshot);
    // Kept before a crash.
    else if (!(isClean && (await isAncestor(context, head, before))) && !(await holds(context, before, snapshot)))
      continue;
    return ref;
  }
}

async function commitAt(context: GitContext, ref: string): Promise<string | undefined> {
  return context.talk.find(`${ref}^{commit}`);
}

/** The commit at the attempt's ref: HEAD, or a commit on top of it with the uncommitted files. git refuses if the ref moves. */
export async function keep(
  context: GitContext,
  folder: TaskFolder,
  attempt: string,
  snapshot: Snapshot & { readonly ignored?: readonly string[] },
): Promise<string> {
  const { git } = context;
  const repository = await openRun(context, folder.run);
  const { call } = repository;
  const ref = attemptRef(requireName(folder.run), requireName(attempt));
  const before = await commitAt(context, ref);
  if (before !== undefined && (await holds(context, before, snapshot))) return before;
  failpoint('git.before-rescue');
  // The ref's earlier commit stays reachable through the new one.
  const old = before === undefined || (await isAncestor(context, before, snapshot.head)) ? [] : ['-p', before];
  const plain = snapshot.clean && old.length === 0;
  const ignored = snapshot.ignored === undefined ? '' : `\n\nWith files that git ignores:\n${named(snapshot.ignored)}`;
  const message = `Uncommitted work of ${folder.task}, kept by squad${ignored}`;
  const commit = plain
    ? snapshot.head
    : await git.text(['commit-tree', snapshot.tree, '-p', snapshot.head, ...old, '-m', message], call);
  const kept = await publishRef(context, repository, ref, commit, before ?? '');
  if (kept.code !== 0) throw gitFailed(['update-ref'], kept);
  failpoint('git.rescued');
  return commit;
}

const MOST_NAMED = 100;

function named(paths: readonly string[]): string {
  const lines = paths.slice(0, MOST_NAMED).map((path) => JSON.stringify(path));
  return [...lines, ...(paths.length > MOST_NAMED ? [`and ${paths.length - MOST_NAMED} more`] : [])].join('\n');
}

/** The commit is an earlier rescue of the same state. */
async function holds(context: GitContext, commit: string, snapshot: Snapshot): Promise<boolean> {
  const { talk } = await anyPlace(context);
  return (await talk.commit(commit))?.tree === snapshot.tree && (await isAncestor(context, snapshot.head, commit));
}
