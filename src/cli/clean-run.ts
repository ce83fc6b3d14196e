import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Host, Machine } from '../engine/machine.ts';
import type { OpenedWorkspace } from '../squad/open-workspace.ts';
import { deleteFolder, removeTree } from '../substrate/system/files/remove-tree.ts';
import {
  copiesFolder,
  equipmentFolder,
  portsFile,
  projectedFiles,
  runFolder,
} from '../substrate/system/files/run-files.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { ENGINE_FOLDERS } from '../substrate/git/folder-note.ts';
import { createGitWorkspaces, type WorkspacePlaces } from '../substrate/git/git-workspaces.ts';
import { inspectRepository } from '../substrate/git/inspect-repository.ts';
import { requireWritable } from '../substrate/git/require-writable.ts';
import { holderHere, lockWorkspace } from '../substrate/ledger/index.ts';
import type { DroppedRefs, ListedFolder, Workspaces } from '../substrate/ports/workspaces.ts';
import { counted } from '../text/counted.ts';
import { plainLine } from '../text/plain-text.ts';

/** A finished run of the workspace in `directory`. */
export interface Leftovers {
  readonly run: string;
  readonly id: string;
  /** Ids of its attempts. */
  readonly attempts: readonly string[];
}

type WhatToClean = Readonly<Record<'dryRun' | 'turns' | 'refs', boolean>>;

export interface CleanedRun {
  readonly run: string;
  /** Clones of tasks and of the engine. */
  readonly folders: readonly CleanedFolder[];
  /** Folders of turns. */
  readonly turns: number;
  /** Files for people, and folders of them. */
  readonly files: readonly string[];
  /** null: not asked for. */
  readonly refs: DroppedRefs | null;
  /** Other files in its folder, which stay. */
  readonly left: readonly string[];
}

interface CleanedFolder {
  readonly path: string;
  readonly action: 'removed' | 'would-remove' | 'kept';
  /** The ref that keeps uncommitted work. */
  readonly rescued?: string;
  /** Those that keep what only other branches and stashes in it had; and what is not kept of these. */
  readonly side?: readonly string[];
  readonly missed?: string;
  readonly why?: string;
}

/** Works on the folders and refs of runs, under the workspace's lock: throws `workspace-busy` while an engine is running. */
export async function withWorkspaces<T>(
  host: Pick<Host, 'pid' | 'stateDirectory'>,
  opened: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
): Promise<T> {
  await requireWritable(opened.repository, host.stateDirectory);
  const lock = lockWorkspace(opened.directory, holderHere(host.pid, opened.composition.clock.now()));
  try {
    return await lookIntoWorkspaces(host, opened, work);
  } finally {
    lock.release();
  }
}

/** Takes no lock, so `work` must change nothing but folders that no task has (`spares`). */
export async function lookIntoWorkspaces<T>(
  host: Pick<Host, 'stateDirectory'>,
  { repository, directory, composition: { git } }: OpenedWorkspace<Machine>,
  work: (workspaces: Workspaces) => Promise<T>,
  spares: WorkspacePlaces['spares'] = {},
): Promise<T> {
  const report = await inspectRepository(git, repository.root);
  const workspaces = createGitWorkspaces({ ...git, ...workspacePlaces(host, directory), spares }, report);
  try {
    return await work(workspaces);
  } finally {
    await workspaces.close();
  }
}

/** Removes the files of a finished run. Uncommitted work is committed first. A dry run changes nothing. */
export async function cleanRun(
  workspaces: Workspaces,
  directory: string,
  { run, id, attempts }: Leftovers,
  options: WhatToClean,
): Promise<CleanedRun> {
  const found = await workspaces.listFolders(run);
  const folders: CleanedFolder[] = [];
  for (const folder of found) {
    folders.push(options.dryRun ? await look(workspaces, folder) : await remove(workspaces, folder));
  }
  const turns = options.turns ? await cleanTurns(join(directory, 'turns'), attempts, options.dryRun) : 0;
  // An engine that was killed leaves the folders in which equipment started.
  const own = [equipmentFolder(directory, id), copiesFolder(directory, id), portsFile(directory, id)].filter((path) =>
    existsSync(path),
  );
  const files = [...(await projectedFiles(runFolder(directory, id))), ...own];
  if (options.dryRun) return { run, folders, turns, files, refs: null, left: [] };
  for (const path of files) await removeTree(path);
  const left = await workspaces.closeRun(run);
  const side = folders.flatMap((folder) => folder.side ?? []);
  const rescued = [...found.map(leftName), ...side.map((ref) => ref.slice(ref.lastIndexOf('/') + 1))];
  const refs = options.refs ? await workspaces.dropRefs(run, rescued, id) : null;
  return { run, folders, turns, files, refs, left };
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

/** One line for each thing that was removed, would be removed (`verb`), or stays, with the reason. */
export function cleanedLines({ run, folders, turns, files, refs, left }: CleanedRun, verb: string): string[] {
  return [
    ...folders.map((folder) => folderLine(folder, verb)),
    ...(turns === 0 ? [] : [row(verb, `${counted(turns, 'turn folder')} of ${run}`)]),
    ...files.map((path) => row(verb, plainLine(path))),
    ...left.map((name) => row('kept', `${plainLine(name)} in the folder of ${run}: squad did not create it`)),
    ...(refs === null ? [] : refLines(run, refs)),
  ];
}

function row(what: string, about: string): string {
  return `${what.padEnd(8)}  ${about}`;
}

function folderLine({ path, action, rescued, why, side = [], missed }: CleanedFolder, verb: string): string {
  if (action === 'kept') return row('kept', `${plainLine(path)}  (${plainLine(why ?? '', 300)})`);
  const kept = rescued === undefined ? '' : `  (uncommitted work: ${plainLine(rescued)})`;
  const others =
    side.length === 0 ? '' : `  (other branches and stashes: ${side.map((ref) => plainLine(ref)).join(' ')})`;
  const lost = missed === undefined ? '' : `  (not kept: ${plainLine(missed, 200)})`;
  return row(verb, `${plainLine(path)}${kept}${others}${lost}`);
}

function refLines(run: string, { attempts, branch, foreign }: DroppedRefs): string[] {
  return [
    ...(attempts === 0 ? [] : [row('removed', `${counted(attempts, 'ref')} below refs/squad/${run}`)]),
    ...foreign.map((ref) =>
      row('kept', `${ref}: the run did not make what it has. To have it as a branch: git branch ${run}-kept ${ref}`),
    ),
    ...branchLines(run, branch),
  ];
}

export function branchLines(run: string, branch: DroppedRefs['branch']): string[] {
  if (branch.type === 'absent') return [];
  if (branch.type === 'deleted') {
    const { head, kept } = branch;
    return [
      row('removed', `branch squad/${run}, which was at ${head}`),
      ...(kept === undefined ? [] : [row('kept', kept), row('again', `git branch squad/${run} ${kept}`)]),
    ];
  }
  const { why, commits = [], more = 0 } = branch;
  const hasWork = why === 'unmerged' || why === 'foreign';
  const rename = hasWork ? `. To keep it under another name: git branch -m squad/${run} ${run}-kept` : '';
  return [
    row('kept', `branch squad/${run}: ${WHY_KEPT[why]}${rename}`),
    ...commits.map(({ commit, subject }) => row('', `${commit.slice(0, 12)} ${plainLine(subject, 100)}`)),
    ...(more === 0 ? [] : [row('', `and ${more} more`)]),
  ];
}

export const WHY_KEPT = {
  'checked-out': 'it is checked out',
  'other-run': 'another run has this name',
  'not-ours': 'no run of squad has this name',
  unmerged: 'no other branch has its work',
  foreign: 'it has commits that the run did not deliver',
};
