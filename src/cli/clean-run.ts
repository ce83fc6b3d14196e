import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deleteFolder, removeTree } from '../substrate/system/files/remove-tree.ts';
import { equipmentFolder, projectedFiles } from '../substrate/system/files/run-files.ts';
import { ENGINE_FOLDERS } from '../substrate/git/folder-note.ts';
import type { DroppedRefs, ListedFolder, Workspaces } from '../substrate/ports/workspaces.ts';

export interface Leftovers {
  /** Name and id of a finished run. */
  readonly run: string;
  readonly id: string;
  /** Ids of its attempts. */
  readonly attempts: readonly string[];
  /** Its files for people. */
  readonly folder: string;
}

type WhatToClean = Readonly<Record<'dryRun' | 'turns' | 'refs', boolean>>;

export interface CleanedRun {
  readonly run: string;
  readonly worktrees: readonly CleanedFolder[];
  /** Folders of turns. */
  readonly turns: number;
  /** Files for people, and folders of them. */
  readonly files: readonly string[];
  /** null: not asked for. */
  readonly refs: DroppedRefs | null;
  /** Other files in its folder, which stay. */
  readonly left: readonly string[];
}

export interface CleanedFolder {
  readonly path: string;
  readonly action: 'removed' | 'would-remove' | 'kept';
  /** The ref that keeps uncommitted work. */
  readonly rescued?: string;
  /** Those that keep what only other branches and stashes in it had; and what is not kept of these. */
  readonly side?: readonly string[];
  readonly missed?: string;
  readonly why?: string;
}

/** Removes the files of a finished run. Uncommitted work is committed first. A dry run changes nothing. */
export async function cleanRun(
  workspaces: Workspaces,
  turnsDirectory: string,
  { run, id, attempts, folder: own }: Leftovers,
  options: WhatToClean,
): Promise<CleanedRun> {
  const found = await workspaces.listFolders(run);
  const worktrees: CleanedFolder[] = [];
  for (const folder of found) {
    worktrees.push(options.dryRun ? await look(workspaces, folder) : await remove(workspaces, folder));
  }
  const turns = options.turns ? await cleanTurns(turnsDirectory, attempts, options.dryRun) : 0;
  // An engine that was killed leaves the folders in which equipment started.
  const apart = equipmentFolder(dirname(turnsDirectory), id);
  const files = [...(await projectedFiles(own)), ...(existsSync(apart) ? [apart] : [])];
  if (options.dryRun) return { run, worktrees, turns, files, refs: null, left: [] };
  for (const path of files) await removeTree(path);
  const left = await workspaces.closeRun(run);
  const side = worktrees.flatMap((folder) => folder.side ?? []);
  const rescued = [...found.map(leftName), ...side.map((ref) => ref.slice(ref.lastIndexOf('/') + 1))];
  const refs = options.refs ? await workspaces.dropRefs(run, rescued, id) : null;
  return { run, worktrees, turns, files, refs, left };
}

/** A ref of its own, so that no attempt's ref is overwritten. */
function leftName({ task }: ListedFolder): string {
  return `${task.replaceAll('_', '')}-left`;
}

async function look(workspaces: Workspaces, folder: ListedFolder): Promise<CleanedFolder> {
  const { path, task, isHalfMade } = folder;
  if (isHalfMade || ENGINE_FOLDERS.includes(task)) return { path, action: 'would-remove' };
  const snapshot = await workspaces.snapshot(folder);
  if (snapshot.type !== 'snapshot') return { path, action: 'kept', why: snapshot.reason };
  return { path, action: 'would-remove', ...(snapshot.clean ? {} : { rescued: refOf(folder) }) };
}

async function remove(workspaces: Workspaces, folder: ListedFolder): Promise<CleanedFolder> {
  const { path, task } = folder;
  // It holds no work, and goes with the run.
  if (ENGINE_FOLDERS.includes(task)) return { path, action: 'removed' };
  const answer = await workspaces.removeFolder(folder, leftName(folder));
  if (answer.type === 'refused') return { path, action: 'kept', why: [answer.reason, ...answer.detail].join(': ') };
  const { kept = [], missed } = answer.side ?? {};
  return {
    ...{ path, action: 'removed' },
    ...(answer.rescued ? { rescued: refOf(folder) } : {}),
    ...(kept.length === 0 ? {} : { side: kept.map(({ ref }) => ref) }),
    ...(missed === undefined ? {} : { missed }),
  };
}

function refOf(folder: ListedFolder): string {
  return `refs/squad/${folder.run}/${leftName(folder)}`;
}

async function cleanTurns(directory: string, attempts: readonly string[], dryRun: boolean): Promise<number> {
  const folders = attempts.map((id) => join(directory, id)).filter((path) => existsSync(path));
  if (dryRun) return folders.length;
  const problems = await Promise.all(folders.map(deleteFolder));
  return problems.filter((problem) => problem === undefined).length;
}
