import { chmod, copyFile, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { badInput, SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import { hasLedger } from '../../substrate/ledger/index.ts';
import { refuseMoved } from '../../substrate/ledger/moved-mark.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import { missingCommits, ownerOf, putRefs, refsIn } from '../../substrate/git/run-bundle.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { confine, isWithin } from '../../substrate/system/files/confine.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { hashFile } from '../../substrate/system/files/tar-file.ts';
import { plainLine } from '../../text/plain-text.ts';
import { takeState, type AdoptedState } from '../adopt-state.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import type { Manifest, PackPart } from './manifest.ts';

/** Where the runs come from. */
export interface TakeOver {
  readonly manifest: Manifest;
  /** With their parts, as `layOut` has put them. */
  readonly folder: string;
  /** For people: the file or place that they come from. */
  readonly shown: string;
  /** Brings the commits of the runs into the repository, below the refs that they have. */
  readonly takeCommits: () => Promise<void>;
  /** A move’s steps between the checks and the ledger. Absent: the repository must have no runs. */
  readonly before?: (() => Promise<void>) | undefined;
}

/** Throws for runs that this squad or this repository cannot take over. Changes nothing. */
export async function refuseTakeOver(
  workspace: OpenedWorkspace,
  { manifest, shown, before }: Pick<TakeOver, 'manifest' | 'shown' | 'before'>,
): Promise<void> {
  refuseSchema(shown, manifest);
  if (before === undefined) refuseRuns(workspace, manifest);
  await refuseWithoutBase(workspace, manifest);
}

/**
 * Takes runs over into this repository, which must have none of its own. Everything is checked before anything is written that counts; a
 * crash leaves a repository without runs. squad asks for consent before a run continues.
 */
export async function takeOver(
  workspace: OpenedWorkspace,
  { manifest, folder, takeCommits, before }: TakeOver,
): Promise<AdoptedState> {
  const { git } = workspace.composition;
  const checkout = await plannedFiles(workspace, folder, manifest);
  await refuseBranches(workspace, manifest);
  failpoint('unpack.checked');
  await takeCommits();
  await putRefs(
    git,
    workspace.repository,
    manifest.runs.flatMap(({ branch }) => branch ?? []),
  );
  failpoint('unpack.refs');
  for (const [from, to] of checkout) await copyInto(from, to);
  await before?.();
  // Last: until then the repository has no runs.
  return takeState(workspace, stateIn(folder));
}

/** Puts all parts into a folder, as a state folder that can be taken over. `write` returns the hash of what it wrote. */
export async function layOut(
  folder: string,
  { parts }: Manifest,
  write: (part: PackPart, target: string) => Promise<string | undefined>,
  damaged: (path: string) => SquadError,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const part of parts) {
    const target = placeOf(folder, part);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    if ((await write(part, target)) !== part.sha256) throw damaged(part.path);
    if (part.kind === 'state') await chmod(target, part.executable === true ? 0o500 : 0o600);
    else if (part.executable === true) await chmod(target, 0o700);
  }
}

/** Where `layOut` has put what is to be the state. */
export function stateIn(folder: string): string {
  return join(folder, 'state');
}

/** Where `layOut` has put the commits, if they are a part. */
export function bundleIn(folder: string): string {
  return join(folder, 'runs.bundle');
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

/** Files of these folders alone: the others say what the person agreed to, or where the state belongs. */
const STATE = /^(?:runs|blobs|copies|attachments)\//;
const OF_GIT = /(?:^|\/)\.git(?:\/|$)/i;

function placeOf(folder: string, { kind, path }: PackPart): string {
  if (kind === 'bundle') return bundleIn(folder);
  if (kind === 'ledger') return join(stateIn(folder), 'squad.db');
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
