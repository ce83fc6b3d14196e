import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { placedAt, type RunDefinition } from '../../model/run.ts';
import { storageError } from '../../model/storage-error.ts';
import { complete, refuseExisting } from '../../substrate/ledger/backup.ts';
import { filesOf } from '../../substrate/ledger/backup-files.ts';
import { ledgerPath, openLedger, type WorkspaceLock } from '../../substrate/ledger/index.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import { makeBundle, missingCommits, refsIn } from '../../substrate/git/run-bundle.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { hashFile, writeTar, type TarPart } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { endOfRun } from '../../view/end-row.ts';
import { findDefinition, findRun } from '../../view/read-run.ts';
import { folderOf } from '../../view/run-folders.ts';
import { openWorkspace, requireRuns, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { copyAtPoint, type LostTurn } from './copy-ledger.ts';
import { manifestPart, type Manifest, type PackPart } from './manifest.ts';
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

/** A run of the copy, with the folder that it keeps up to date. */
interface PackedRun {
  readonly run: Manifest['runs'][number];
  readonly definition: RunDefinition;
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
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    const lost = await copyAtPoint(workspace, folder, lock);
    const packed = await readRuns(workspace, folder);
    const all = [...(await stateParts(folder)), ...(await checkoutParts(workspace, packed))];
    const bundled = await bundleOf(workspace, folder, packed);
    if (bundled.part !== undefined) all.push(bundled.part);
    const at = workspace.composition.clock.now();
    const runs = packed.map(({ run }) => run);
    const parts = all.map(({ part }) => part);
    const manifest: Manifest = { version: 1, id: randomUUID(), at, schema: SCHEMA, runs, needs: bundled.needs, parts };
    await writePack(path, workspace.host.pid, [manifestPart(manifest), ...contentsOf(all)]);
    const hasCopies = parts.some(({ path: one }) => one.startsWith('copies/'));
    return { id: manifest.id, path, bytes: (await stat(path)).size, runs, lost, hasCopies };
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

async function readRuns({ composition, repository }: OpenedWorkspace, folder: string): Promise<PackedRun[]> {
  const ledger = openLedger(folder, { clock: composition.clock, readOnly: true });
  try {
    const packed: PackedRun[] = [];
    for (const row of ledger.runs()) {
      const stored = findDefinition(ledger, row);
      if (stored === undefined) continue;
      const definition = placedAt(stored, repository.root);
      const unfinished = endOfRun(ledger, { id: row.id }) === undefined;
      const { branch } = refsOfRun(definition);
      const found = branch === undefined ? [] : await refsIn(composition.git, repository, [branch]);
      const head = found.length === 0 ? undefined : findRun(ledger, row.id, null)?.board.branch.head;
      const at = branch === undefined || head === undefined ? {} : { branch: { ref: branch, at: head } };
      const run = { id: row.id, name: row.name, unfinished, base: definition.repository.base, ...at };
      packed.push({ run, definition });
    }
    return packed;
  } finally {
    ledger.close();
  }
}

interface FoundPart {
  readonly part: PackPart;
  readonly file: string;
}

async function foundPart(kind: PackPart['kind'], path: string, file: string): Promise<FoundPart> {
  const isExecutable = ((await stat(file)).mode & 0o100) !== 0;
  const hashed = await hashFile(file);
  return { file, part: { kind, path, ...hashed, ...(isExecutable ? { executable: true as const } : {}) } };
}

/** The ledger, and what was copied beside it. */
async function stateParts(folder: string): Promise<FoundPart[]> {
  const ledger = ledgerPath(folder);
  const beside = filesOf(ledger);
  const files = await filesBelow(beside);
  const found = await Promise.all(files.map(async (file) => foundPart('state', relative(beside, file), file)));
  return [await foundPart('ledger', 'squad.db', ledger), ...found];
}

async function filesBelow(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name)] : []));
}

/** The folders that unfinished runs keep up to date. Throws `usage` for one outside of the repository. */
async function checkoutParts({ repository }: OpenedWorkspace, runs: readonly PackedRun[]): Promise<FoundPart[]> {
  const files = new Set<string>();
  for (const { run, definition } of runs) {
    const folder = run.unfinished ? folderOf(definition) : undefined;
    if (folder === undefined) continue;
    if (!folder.startsWith(`${repository.root}/`)) throw outsideFolder(run.name, folder);
    for (const file of await filesBelow(folder)) files.add(file);
  }
  return Promise.all([...files].map(async (file) => foundPart('checkout', relative(repository.root, file), file)));
}

function outsideFolder(run: string, folder: string) {
  return usageError(
    `${run} keeps ${plainLine(folder, 300)} up to date, which is outside of the repository, so it cannot be packed`,
    `Finish it here, or remove it with \`squad drop ${run}\`.`,
  );
}

/** The commits of the runs, without the history that the other repository has to have. */
async function bundleOf(
  { composition: { git }, repository }: OpenedWorkspace,
  folder: string,
  runs: readonly PackedRun[],
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
