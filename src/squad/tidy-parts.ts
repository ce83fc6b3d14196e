import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cutCheckpoints, shrinkCheckpoints } from '../substrate/ledger/checkpoint-file.ts';
import type { Machine } from '../engine/machine.ts';
import { wrongEnvironment } from '../model/errors.ts';
import type { KeptRef } from '../model/keep.ts';
import type { Tidying } from '../rules/tidying.ts';
import { backupFolder, filesOf, ledgerPath } from '../substrate/ledger/index.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { deleteFolder } from '../substrate/system/files/remove-tree.ts';
import {
  copiesFolder,
  DROPPED,
  outputDroppedAt,
  projectedFiles,
  runFolder,
  writeRunFile,
} from '../substrate/system/files/run-files.ts';
import type { OpenedWorkspace } from './open-workspace.ts';

/** A piece of a tidying, after which everything is whole. */
export type Part = () => Promise<void>;

/** So many refs are deleted before another program gets its turn. */
const REFS_AT_ONCE = 20;

/** Together they remove the part of a run that is due. */
export function partsOf(workspace: OpenedWorkspace<Machine>, one: Tidying): readonly Part[] {
  const { directory, composition } = workspace;
  const note: Part = async () => noteDropped(directory, one.id, composition.clock.now());
  // The claim of the name comes last.
  const refs: KeptRef[] = [...one.branches, ...one.refs];
  const groups = Array.from({ length: Math.ceil(refs.length / REFS_AT_ONCE) }, (_, index) =>
    refs.slice(index * REFS_AT_ONCE, (index + 1) * REFS_AT_ONCE),
  );
  return [
    ...(one.output.length === 0 ? [] : [note]),
    ...one.output.map((id) => async () => remove(join(directory, 'turns', id), 'keep.output-dropped')),
    ...groups.map((some) => async () => dropRefs(workspace, some)),
    ...(one.checkpoints === 0 ? [] : [async () => cutCheckpointsOf(directory, one.id)]),
    ...(one.copies ? [async () => remove(copiesFolder(directory, one.id), 'keep.copies-dropped')] : []),
    ...(one.runs ? [async () => removeFiles(runFolder(directory, one.id))] : []),
  ];
}

/** They remove what belongs to no run alone. Each is called as long as it returns true. */
export function storeParts(directory: string, backups: readonly string[]): readonly (() => Promise<boolean>)[] {
  const left = [...backups];
  return [
    async () => {
      const name = left.shift();
      if (name === undefined) return false;
      const path = join(backupFolder(ledgerPath(directory)), name);
      // The files that it names go last: without it they are of no use.
      await remove(path, 'keep.backup-dropped');
      await remove(filesOf(path), 'keep.backup-dropped');
      return left.length > 0;
    },
    async () => Promise.resolve(shrinkCheckpoints(directory)),
  ];
}

async function remove(path: string, point: Parameters<typeof failpoint>[0]): Promise<void> {
  const problem = await deleteFolder(path);
  if (problem !== undefined) throw wrongEnvironment(`${path} cannot be deleted: ${problem}`);
  failpoint(point);
}

async function cutCheckpointsOf(directory: string, runId: string): Promise<void> {
  cutCheckpoints(directory, runId);
  failpoint('keep.checkpoints-cut');
  return Promise.resolve();
}

async function dropRefs(
  { composition: { git }, repository }: OpenedWorkspace<Machine>,
  refs: readonly KeptRef[],
): Promise<void> {
  const { deleteMergedRefs } = await import('../substrate/git/squad-refs.ts');
  const problem = await deleteMergedRefs(git, repository, refs);
  if (problem !== undefined) throw wrongEnvironment(`git cannot delete a ref: ${problem}`);
  failpoint('keep.ref-dropped');
}

/** Before the first file goes: a reader that finds none finds out why. */
async function noteDropped(directory: string, runId: string, at: number): Promise<void> {
  if ((await outputDroppedAt(directory, runId)) === undefined) {
    await writeRunFile(directory, runId, DROPPED, `${new Date(at).toISOString()}\n`);
  }
  failpoint('keep.noted');
}

/** The folder has not been emptied as long as this is there. */
export const LAST_FILE = 'report.md';
const FILES = ['report.html', 'objective.md', 'engine.log', 'ports.json', 'armory', DROPPED, LAST_FILE];

/** Other files there are a person's, and stay. */
async function removeFiles(folder: string): Promise<void> {
  for (const path of [...(await projectedFiles(folder)), ...FILES.map((name) => join(folder, name))])
    await remove(path, 'keep.run-dropped');
  await rmdir(folder).catch(() => undefined);
}
