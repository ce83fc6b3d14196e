import { randomUUID } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { storageError } from '../../model/storage-error.ts';
import { complete, refuseExisting } from '../../substrate/ledger/backup.ts';
import type { WorkspaceLock } from '../../substrate/ledger/index.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import { makeBundle, missingCommits, refsIn } from '../../substrate/git/run-bundle.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { writeTar, type TarPart } from '../../substrate/system/files/tar-file.ts';
import { openWorkspace, requireRuns, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import type { LostTurn } from './copy-ledger.ts';
import { foundPart, gatherRuns, type FoundPart, type GatheredRun } from './gather.ts';
import { manifestPart, type Manifest } from './manifest.ts';
import { refsOfRun } from './run-parts.ts';

export interface Packed {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly runs: Manifest['runs'];
  /** Paid turns whose work was gone already. */
  readonly lost: readonly LostTurn[];
  /** Ignored files of the checkout, which may be private, are in it. */
  readonly hasCopies: boolean;
}

/**
 * Writes all runs of a repository into one new file: the ledger as it is at a replication point, what it names, and the commits of the
 * runs. No consent and no secret is in it. Changes nothing of the runs. Throws `usage` if the file exists. `lock`: the caller's own.
 */
export async function packRuns(place: Place, file: string, lock?: WorkspaceLock): Promise<Packed> {
  const workspace = await openWorkspace(place);
  requireRuns(workspace);
  const path = resolve(place.host.workingDirectory, file);
  refuseExisting(path);
  const folder = join(workspace.directory, `packing-${workspace.host.pid}`);
  try {
    const gathered = await gatherRuns(workspace, folder, { lock });
    const all = [...gathered.parts];
    const bundled = await bundleOf(workspace, folder, gathered.runs);
    if (bundled.part !== undefined) all.push(bundled.part);
    const at = workspace.composition.clock.now();
    const runs = gathered.runs.map(({ run }) => run);
    const parts = all.map(({ part }) => part);
    const manifest: Manifest = { version: 1, id: randomUUID(), at, schema: SCHEMA, runs, needs: bundled.needs, parts };
    await writePack(path, workspace.host.pid, [manifestPart(manifest), ...contentsOf(all)]);
    const hasCopies = parts.some(({ path: one }) => one.startsWith('copies/'));
    return { id: manifest.id, path, bytes: (await stat(path)).size, runs, lost: gathered.lost, hasCopies };
  } catch (error) {
    throw storageError(path, error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Whole under its name, or absent. */
async function writePack(path: string, pid: number, parts: readonly TarPart[]): Promise<void> {
  const temporary = `${path}.${pid}.new`;
  try {
    await rm(temporary, { force: true });
    await writeTar(temporary, parts);
    failpoint('pack.written');
    complete(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** The commits of the runs, without the history that the other repository has to have. */
async function bundleOf(
  { composition: { git }, repository }: OpenedWorkspace,
  folder: string,
  runs: readonly GatheredRun[],
): Promise<{ readonly needs: string[]; readonly part: FoundPart | undefined }> {
  const file = join(folder, 'runs.bundle');
  const names = runs.flatMap(({ run, definition }) => [
    refsOfRun(definition).below,
    ...(run.branch ? [run.branch.ref] : []),
  ]);
  const refs = (await refsIn(git, repository, names)).map(({ ref }) => ref);
  const bases = [...new Set(runs.map(({ run }) => run.base))];
  const gone = await missingCommits(git, repository, bases);
  const needs = bases.filter((base) => !gone.includes(base));
  const isMade = await makeBundle(git, repository, { file, refs, bases: needs });
  return { needs, part: isMade ? await foundPart('bundle', 'runs.bundle', file) : undefined };
}

/** Each content once, under its hash. */
function contentsOf(found: readonly FoundPart[]): TarPart[] {
  const byHash = new Map(found.map(({ part, file }) => [part.sha256, { part, file }]));
  return [...byHash.values()].map(({ part, file }) => ({ name: part.sha256, bytes: part.bytes, from: { file } }));
}
