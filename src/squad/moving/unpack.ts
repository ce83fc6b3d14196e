import { chmod, copyFile, mkdir, open, realpath, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { badInput, SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
import { refuseMoved } from '../../substrate/ledger/moved-mark.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import { missingCommits, ownerOf, putRefs, refsIn, takeBundle } from '../../substrate/git/run-bundle.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { confine, isWithin } from '../../substrate/system/files/confine.ts';
import { extractEntry, hashFile } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { takeState } from '../adopt-state.ts';
import { openWorkspace, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { flagQueue } from '../queue-flag.ts';
import { damagedPack, readManifest, type Manifest, type OpenedPack, type PackPart } from './manifest.ts';

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
  const pack = await openPack(path);
  const { manifest } = pack;
  refuseSchema(shown, manifest);
  if (before === undefined) refuseRuns(workspace, manifest);
  await refuseWithoutBase(workspace, manifest);
  const folder = join(workspace.host.stateDirectory, `unpacking-${workspace.host.pid}`);
  try {
    await mkdir(workspace.host.stateDirectory, { recursive: true, mode: 0o700 });
    await rm(folder, { recursive: true, force: true });
    await extractAll(path, pack, folder);
    const checkout = await plannedFiles(workspace, folder, manifest);
    await refuseBranches(workspace, manifest);
    failpoint('unpack.checked');
    const { git } = workspace.composition;
    if (manifest.parts.some(({ kind }) => kind === 'bundle'))
      await takeBundle(git, workspace.repository, join(folder, 'runs.bundle'));
    await putRefs(
      git,
      workspace.repository,
      manifest.runs.flatMap(({ branch }) => branch ?? []),
    );
    failpoint('unpack.refs');
    for (const [from, to] of checkout) await copyInto(from, to);
    await before?.();
    // Last: until then the repository has no runs.
    const { directory } = await takeState(workspace, join(folder, 'state'));
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

function refuseSchema(file: string, { schema }: Manifest): void {
  if (schema === SCHEMA) return;
  const isNewer = schema > SCHEMA;
  throw new SquadError({
    code: isNewer ? 'schema-newer' : 'schema-older',
    message: `${file} was packed by ${isNewer ? 'a newer' : 'an older'} squad: its ledger has schema ${schema}, and this one reads ${SCHEMA}`,
    next: isNewer ? 'Update squad here, then run the command again.' : 'Unpack it with that version of squad.',
  });
}

function refuseRuns({ state }: OpenedWorkspace, { runs }: Manifest): void {
  if (state.type !== 'known') return;
  refuseMoved(state.directory);
  if (!hasLedger(state.directory)) return;
  const named = runs.map(({ name }) => name).join(', ');
  throw usageError(
    `this repository has runs of its own in ${plainLine(state.directory)}, and the pack has ${named}`,
    'Look at them with `squad runs`. To take over those of the pack, unpack it in a new clone.',
  );
}

async function refuseWithoutBase({ composition: { git }, repository }: OpenedWorkspace, { needs, runs }: Manifest) {
  const [missing] = await missingCommits(git, repository, needs);
  if (missing === undefined) return;
  const named = runs.filter(({ base }) => base === missing).map(({ name }) => name);
  throw wrongEnvironment(
    `this repository lacks the commit ${missing}, with which ${named.join(', ') || 'a run of the pack'} began`,
    'Fetch it from the repository that the runs were packed in, or from its remote: `git fetch --all`. In a shallow clone: `git fetch --unshallow`.',
  );
}

/** Throws where a branch of this name is someone else's. */
async function refuseBranches(
  { composition: { git }, repository }: OpenedWorkspace,
  { runs }: Manifest,
): Promise<void> {
  for (const { id, name, branch } of runs) {
    if (branch === undefined) continue;
    const [found] = await refsIn(git, repository, [branch.ref]);
    if (found === undefined || found.at === branch.at || (await ownerOf(git, repository, name)) === id) continue;
    throw usageError(
      `this repository has a branch ${branch.ref.slice('refs/heads/'.length)} that is not of the run in the pack`,
      `Rename it: \`git branch -m squad/${name} ${name}-before\`.`,
    );
  }
}

/** Puts all parts into a folder, as a state folder that can be taken over. Throws `bad-input` for a part that is not as it was packed. */
async function extractAll(path: string, { manifest, entries }: OpenedPack, folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const part of manifest.parts) {
    const entry = entries.get(part.sha256);
    const target = placeOf(folder, part);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if (entry === undefined || (await extractEntry(path, entry, target)) !== part.sha256)
      throw damagedPack(path, part.path);
    if (part.kind === 'state') await chmod(target, part.executable === true ? 0o500 : 0o600);
    else if (part.executable === true) await chmod(target, 0o700);
  }
}

/** Files of these folders alone: the others say what the person agreed to, or where the state belongs. */
const STATE = /^(?:runs|blobs|copies|attachments)\//;
const OF_GIT = /(?:^|\/)\.git(?:\/|$)/i;

function placeOf(folder: string, { kind, path }: PackPart): string {
  if (kind === 'bundle') return join(folder, 'runs.bundle');
  if (kind === 'ledger') return join(folder, 'state', 'squad.db');
  if (kind === 'state' ? !STATE.test(path) : OF_GIT.test(path))
    throw badInput(`the pack names a file that no pack has: ${plainLine(path, 200)}`);
  return confine(join(folder, kind), path);
}

/** The files for the checkout. Throws `usage` for one that is there with another content, so that nothing of the person's is lost. */
async function plannedFiles(
  { repository: { root } }: OpenedWorkspace,
  folder: string,
  { parts }: Manifest,
): Promise<[from: string, to: string][]> {
  const planned: [string, string][] = [];
  for (const { kind, path, sha256 } of parts) {
    if (kind !== 'checkout') continue;
    const to = confine(root, path);
    const found = await hashFile(to).catch(() => undefined);
    if (found?.sha256 === sha256) continue;
    if (found !== undefined || (await exists(to)))
      throw usageError(
        `${plainLine(path, 300)} is here with another content than in the pack`,
        'Move it out of the way, then run the command again.',
      );
    if (!(await leadsInto(root, to)))
      throw usageError(
        `${plainLine(path, 300)} would be outside of the repository, because of a link`,
        'Remove that link.',
      );
    planned.push([join(folder, 'checkout', path), to]);
  }
  return planned;
}

/** Whether the nearest folder above that is there is in the checkout. */
async function leadsInto(root: string, path: string): Promise<boolean> {
  const folder = dirname(path);
  if (!(await exists(folder))) return leadsInto(root, folder);
  return isWithin(await realpath(root), await realpath(folder));
}

async function copyInto(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}
