import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { forgePortsOf } from '../../engine/machine.ts';
import { badInput, usageError, wrongEnvironment, type SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { refsIn, type RefAt } from '../../substrate/git/run-bundle.ts';
import { fetchRun, headRef, takeRun, type RunRemote } from '../../substrate/git/run-remote.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import type { PoolBundle, PoolClaim, PoolRun, PoolStore, StoredBundle } from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { plainLine } from '../../text/plain-text.ts';
import { uuid7 } from '../../substrate/system/clock/ids.ts';
import { gatherRuns, type FoundPart, type GatheredRun } from '../moving/gather.ts';
import { parseManifest, type Manifest, type PackPart } from '../moving/manifest.ts';
import { refsOfRun } from '../moving/run-parts.ts';
import { layOut, refuseTakeOver, takeOver } from '../moving/take-over.ts';
import { openWorkspace, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { createPageDiff, type PageDiff } from './page-diff.ts';

/** A run of the pool in a checkout of a worker. */
interface Replica {
  /** Keeps the run in the pool and at its remote, as it is now. */
  store(): Promise<void>;
  readonly remote: RunRemote;
  /** By the monotonic clock: when it took the lease at the remote. */
  readonly takenAt: number;
}

interface ReplicaPorts {
  readonly store: PoolStore;
  readonly claim: PoolClaim;
  readonly run: PoolRun;
  /** The checkout, with a state folder of its own. */
  readonly place: Required<Place>;
}

/** Takes the run over into the checkout, with the right to push for it. */
export async function openReplica(ports: ReplicaPorts): Promise<Replica> {
  const { store, claim, run, place } = ports;
  const scratch = join(place.host.stateDirectory, 'replica');
  const { repository } = await openWorkspace(place);
  const about = { url: run.repository, run: run.name, id: run.id, epoch: claim.epoch, worker: claim.worker };
  const { clock } = place.composition;
  const lease: { remote?: RunRemote; takenAt: number } = { takenAt: clock.monotonic() };
  const taken = await restoreHere(place, { store, run, scratch }, async () => {
    lease.remote = await takeRun(forgePortsOf(place), repository, about);
    lease.takenAt = clock.monotonic();
  });
  const { remote, takenAt } = lease;
  if (remote === undefined) throw new Error('no lease was taken');
  const pages = createPageDiff(taken.pages);
  return {
    ...{ remote, takenAt },
    store: async () => {
      try {
        await storeNow(ports, { scratch, remote, pages });
      } finally {
        await deleteFolder(scratch);
      }
    },
  };
}

interface StorePorts {
  readonly scratch: string;
  readonly remote: RunRemote;
  readonly pages: PageDiff;
}

async function storeNow({ store, claim, place }: ReplicaPorts, { scratch, remote, pages }: StorePorts): Promise<void> {
  const workspace = await openWorkspace(place);
  const { runs, parts } = await gatherRuns(workspace, scratch, { only: claim.run });
  const only = onlyOf(runs);
  // First the commits, so that no stored record names one that only this machine has.
  await remote.push(await refsOf(workspace, only));
  const made = await bundleOf(parts, { runs, pages, at: place.composition.clock.now() });
  await store.storeBundle(claim, await made.with(await store.missing(made.hashes)));
  pages.stored();
  // Delivered work comes last: the records say so before anyone sees it.
  const { branch } = only.run;
  if (branch === undefined || !only.isDelivered) return;
  const why = await remote.publish(branch.ref, branch.at);
  if (why !== undefined) throw wrongEnvironment(why, 'See that this machine may push there: `git push --dry-run`.');
}

/** All refs of the run, and where its branch is: that is a branch at the remote only once it is delivered. */
async function refsOf(
  { composition, repository }: OpenedWorkspace,
  { run, definition }: GatheredRun,
): Promise<RefAt[]> {
  const refs = await refsIn(composition.git, repository, [refsOfRun(definition).below]);
  return run.branch === undefined ? refs : [...refs, { ref: headRef(run.name), at: run.branch.at }];
}

/** The bundle of a run that no worker has had, and the refs that its remote needs. */
export async function firstBundle(
  place: Required<Place>,
  store: PoolStore,
  runId: string,
): Promise<{ readonly bundle: PoolBundle; readonly refs: readonly RefAt[] }> {
  const folder = join(place.host.stateDirectory, 'replica');
  const workspace = await openWorkspace(place);
  const { runs, parts } = await gatherRuns(workspace, folder, { only: runId });
  const only = onlyOf(runs);
  const { definition } = only;
  if (parts.some(({ part }) => part.kind === 'checkout'))
    throw usageError(`${definition.name} keeps a folder up to date, which no worker could give back`, 'Run it here.');
  const made = await bundleOf(parts, { runs, pages: createPageDiff(), at: place.composition.clock.now() });
  return { bundle: await made.with(await store.missing(made.hashes)), refs: await refsOf(workspace, only) };
}

/** Takes the newest bundle of a run over into the checkout at the place. `takeCommits`: brings those that the remote has. */
async function restoreHere(
  place: Required<Place>,
  { store, run, scratch }: { readonly store: PoolStore; readonly run: PoolRun; readonly scratch: string },
  takeCommits: () => Promise<void>,
): Promise<StoredBundle> {
  const workspace = await openWorkspace(place);
  try {
    const { manifest, shown, stored } = await layOutBundle(store, run, scratch);
    await refuseTakeOver(workspace, { manifest, shown });
    await takeOver(workspace, { manifest, shown, folder: scratch, takeCommits });
    return stored;
  } finally {
    await deleteFolder(scratch);
  }
}

/** Takes a run of the pool over into a repository of a person, to read it and to take its work. */
export async function takeHere(
  place: Required<Place>,
  { store, run, scratch }: { readonly store: PoolStore; readonly run: PoolRun; readonly scratch: string },
): Promise<void> {
  const { repository } = await openWorkspace(place);
  const about = { url: run.repository, run: run.name };
  await restoreHere(
    place,
    { store, run, scratch },
    async () => void (await fetchRun(forgePortsOf(place), repository, about)),
  );
}

/** Puts the parts of the newest bundle into a folder. Throws `bad-input` for one that is not as it was stored. */
export async function layOutBundle(store: PoolStore, run: PoolRun, folder: string) {
  const stored = await store.bundle(run.id);
  if (stored === undefined) throw usageError(`${shownRun(run)} was removed`, 'See `squad pool`.');
  return { ...(await layOutStored(store, run, stored, folder)), stored };
}

/** As `layOutBundle`, of one that was read. */
export async function layOutStored(store: PoolStore, run: PoolRun, stored: StoredBundle, folder: string) {
  const shown = shownRun(run);
  const manifest = parseManifest(stored.manifest, shown);
  const ledger = Buffer.concat(stored.pages);
  await deleteFolder(folder);
  const write = async ({ kind, sha256 }: PackPart, target: string): Promise<string> => {
    const content = kind === 'ledger' ? ledger : await store.content(sha256);
    await writeFile(target, content, { mode: 0o600, flush: true });
    return sha256Of(content);
  };
  await layOut(folder, manifest, write, (part) => damagedBundle(shown, part, stored));
  return { manifest, shown };
}

function shownRun({ name }: PoolRun): string {
  return `the run ${plainLine(name, 80)} of the pool`;
}

function damagedBundle(shown: string, part: string, { number }: StoredBundle): SquadError {
  return badInput(
    `${shown} is damaged: ${plainLine(part, 200)} of its bundle ${number} is not as it was stored`,
    'Restore the database from a backup, or remove the run with `squad pool remove` and submit it again.',
  );
}

function onlyOf(runs: readonly GatheredRun[]): GatheredRun {
  const [only, ...others] = runs;
  if (only === undefined || others.length > 0) throw badInput(`the state of a run of a pool has ${runs.length} of it`);
  return only;
}

async function bundleOf(
  parts: readonly FoundPart[],
  about: { readonly runs: readonly GatheredRun[]; readonly pages: PageDiff; readonly at: number },
) {
  const file = parts.find(({ part }) => part.kind === 'ledger')?.file ?? '';
  const ledger = await readFile(file);
  const runs = about.runs.map(({ run }) => run);
  const manifest: Manifest = {
    ...{ version: 1, id: uuid7(about.at), at: about.at, schema: SCHEMA, runs },
    needs: [...new Set(runs.map(({ base }) => base))],
    parts: parts.map(({ part }) => part),
  };
  const others = new Map(
    parts.flatMap(({ part, file: path }) => (part.kind === 'ledger' ? [] : [[part.sha256, path]])),
  );
  const pages = about.pages.changed(ledger);
  return {
    hashes: [...others.keys()],
    with: async (hashes: readonly string[]): Promise<PoolBundle> => {
      const contents = new Map<string, Uint8Array>();
      for (const hash of hashes) contents.set(hash, await readFile(others.get(hash) ?? ''));
      return { manifest: JSON.stringify(manifest), pages, names: [...others.keys()], contents };
    },
  };
}
