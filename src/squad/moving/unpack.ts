import { mkdir, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { takeBundle } from '../../substrate/git/run-bundle.ts';
import { extractEntry } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { openWorkspace, type Place } from '../open-workspace.ts';
import { damagedPack, readManifest, type Manifest, type OpenedPack } from './manifest.ts';
import { bundleIn, layOut, refuseTakeOver, takeOver } from './take-over.ts';

export interface Unpacked {
  readonly id: string;
  readonly path: string;
  /** The folder with the ledger. */
  readonly directory: string;
  readonly runs: Manifest['runs'];
}

/** Takes the runs of a pack over into this repository, which must have none of its own. The same call begins again after a crash. */
export async function unpackRuns(place: Place, file: string): Promise<Unpacked> {
  const workspace = await openWorkspace(place);
  const path = resolve(place.host.workingDirectory, file);
  const shown = plainLine(path, 300);
  const { manifest, entries } = await openPack(path);
  await refuseTakeOver(workspace, { manifest, shown });
  const folder = join(workspace.host.stateDirectory, `unpacking-${workspace.host.pid}`);
  try {
    await mkdir(workspace.host.stateDirectory, { recursive: true, mode: 0o700 });
    await rm(folder, { recursive: true, force: true });
    const write = async ({ sha256 }: { readonly sha256: string }, target: string): Promise<string | undefined> => {
      const entry = entries.get(sha256);
      return entry && extractEntry(path, entry, target);
    };
    await layOut(folder, manifest, write, (part) => damagedPack(path, part));
    const takeCommits = async (): Promise<void> => {
      if (!manifest.parts.some(({ kind }) => kind === 'bundle')) return;
      await takeBundle(workspace.composition.git, workspace.repository, bundleIn(folder));
    };
    const { directory } = await takeOver(place, { manifest, folder, shown, takeCommits });
    return { id: manifest.id, path, directory, runs: manifest.runs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function openPack(path: string): Promise<OpenedPack> {
  try {
    const file = await open(path, 'r');
    try {
      if (!(await file.stat()).isFile()) throw damagedPack(path);
      return await readManifest(file, path);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT')
      throw usageError(`${plainLine(path, 300)} does not exist`, 'Name a file that `squad pack FILE` has made.');
    throw storageError(path, error);
  }
}
