import { mkdir, open, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { usageError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { takeBundle } from '../../substrate/git/run-bundle.ts';
import { extractEntry } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { openWorkspace, type Place } from '../open-workspace.ts';
import { flagQueue } from '../queue-flag.ts';
import { damagedPack, readManifest, type Manifest, type OpenedPack } from './manifest.ts';
import { bundleIn, layOut, refuseTakeOver, takeOver } from './take-over.ts';

export interface Unpacked {
  readonly id: string;
  readonly path: string;
  /** The folder with the ledger. */
  readonly directory: string;
  readonly runs: Manifest['runs'];
}

/**
 * Takes over the runs of a pack, in a repository without runs of its own. All is checked first; after a crash the same call begins again.
 * Consent is asked for before a run continues. `before`: a move’s steps between the checks and the ledger.
 */
export async function unpackRuns(place: Place, file: string, before?: () => Promise<void>): Promise<Unpacked> {
  const workspace = await openWorkspace(place);
  const path = resolve(place.host.workingDirectory, file);
  const shown = plainLine(path, 300);
  const { manifest, entries } = await openPack(path);
  await refuseTakeOver(workspace, { manifest, shown, before });
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
    const { directory } = await takeOver(workspace, { manifest, folder, shown, takeCommits, before });
    // An engine here looks for runs in the queue only if this says so, and takes it back.
    flagQueue(directory);
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
