import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { badInput, usageError, type SquadError } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { createRefPush, fetchRun } from '../../substrate/git/replicate-refs.ts';
import { SCHEMA } from '../../substrate/ledger/schema.ts';
import type {
  LedgerPages,
  PoolBundle,
  PoolClaim,
  PoolRun,
  PoolStore,
  StoredBundle,
} from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { plainLine } from '../../text/plain-text.ts';
import { uuid7 } from '../../substrate/system/clock/ids.ts';
import { gatherRuns, type FoundPart, type GatheredRun } from '../moving/gather.ts';
import { parseManifest, type Manifest, type PackPart } from '../moving/manifest.ts';
import { layOut, refuseTakeOver, takeOver } from '../moving/take-over.ts';
import { openWorkspace, type OpenedWorkspace, type Place } from '../open-workspace.ts';
import { changedPages } from './ledger-pages.ts';
import { gitOf } from './run-place.ts';

/** A run of the pool in a checkout of a worker. */
export interface Replica {
  /** Takes the run over, with the right to push for it. */
  restore(): Promise<void>;
  /** Keeps the run in the pool and at its remote, as it is now. */
  store(): Promise<void>;
}

interface ReplicaPorts {
  readonly store: PoolStore;
  readonly claim: PoolClaim;
  readonly run: PoolRun;
  /** The checkout, with a state folder of its own. */
  readonly place: Required<Place>;
}

export function createReplica({ store, claim, run, place }: ReplicaPorts): Replica {
  const { host, composition } = place;
  const scratch = join(host.stateDirectory, 'replica');
  let before: Uint8Array | undefined;
  const opened = async (): Promise<OpenedWorkspace> => openWorkspace(place);
  let push: ReturnType<typeof createRefPush> | undefined;
  const pushes = async (): Promise<ReturnType<typeof createRefPush>> => {
    const { repository } = await opened();
    push ??= createRefPush(gitOf(place), repository, { name: run.name, url: run.repository }, claim);
    return push;
  };
  return {
    restore: async () => {
      before = await restoreHere(place, { store, run, scratch });
      await (await pushes()).take();
    },
    store: async () => {
      const workspace = await opened();
      try {
        const { runs, parts } = await gatherRuns(workspace, scratch);
        const only = onlyOf(runs);
        // First the commits, so that no stored record names one that only this machine has.
        await (await pushes()).push({ branch: only.run.branch, isDelivered: only.isDelivered });
        const made = await bundleOf(parts, { runs, before, at: composition.clock.now() });
        const missing = await store.missing(made.hashes);
        // Whether a write that failed took place is not known: the next one writes all pages.
        before = undefined;
        await store.storeBundle(claim, await made.with(missing));
        before = made.ledger;
      } finally {
        await deleteFolder(scratch);
      }
    },
  };
}

/** What a pool gets of a run that no worker has had. */
export async function firstBundle(place: Required<Place>, store: PoolStore): Promise<PoolBundle> {
  const folder = join(place.host.stateDirectory, 'replica');
  const { runs, parts } = await gatherRuns(await openWorkspace(place), folder);
  const { definition } = onlyOf(runs);
  if (parts.some(({ part }) => part.kind === 'checkout'))
    throw usageError(`${definition.name} keeps a folder up to date, which no worker could give back`, 'Run it here.');
  const made = await bundleOf(parts, { runs, before: undefined, at: place.composition.clock.now() });
  return made.with(await store.missing(made.hashes));
}

/** Takes the newest bundle of a run over into the checkout at the place. Returns the ledger’s file as it is stored. */
export async function restoreHere(
  place: Required<Place>,
  { store, run, scratch }: { readonly store: PoolStore; readonly run: PoolRun; readonly scratch: string },
): Promise<Uint8Array> {
  const workspace = await openWorkspace(place);
  const ports = gitOf(place);
  try {
    const laid = await layOutBundle(store, run, scratch);
    const { manifest, shown } = laid;
    await refuseTakeOver(workspace, { manifest, shown });
    const takeCommits = async (): Promise<void> =>
      fetchRun(ports, workspace.repository, { name: run.name, url: run.repository });
    await takeOver(place, { manifest, shown, folder: scratch, takeCommits });
    return laid.ledger;
  } finally {
    await deleteFolder(scratch);
  }
}

/** Puts the parts of the newest bundle into a folder. Throws `bad-input` for one that is not as it was stored. */
export async function layOutBundle(store: PoolStore, run: PoolRun, folder: string) {
  const shown = `the run ${plainLine(run.name, 80)} of the pool`;
  const stored = await store.bundle(run.id);
  if (stored === undefined) throw usageError(`${shown} was removed`, 'See `squad pool`.');
  const manifest = parseManifest(stored.manifest, shown);
  const ledger = Buffer.concat(stored.pages);
  await deleteFolder(folder);
  const write = async ({ kind, sha256 }: PackPart, target: string): Promise<string> => {
    const content = kind === 'ledger' ? ledger : await store.content(sha256);
    await writeFile(target, content, { mode: 0o600, flush: true });
    return sha256Of(content);
  };
  await layOut(folder, manifest, write, (part) => damagedBundle(shown, part, stored));
  return { manifest, shown, ledger, number: stored.number };
}

function damagedBundle(shown: string, part: string, { number }: StoredBundle): SquadError {
  return badInput(
    `${shown} is damaged: ${plainLine(part, 200)} of its bundle ${number} is not as it was stored`,
    'Restore the database from a backup, or remove the run with `squad pool remove` and submit it again.',
  );
}

function onlyOf(runs: readonly GatheredRun[]): GatheredRun {
  const [only, ...others] = runs;
  if (only === undefined || others.length > 0) throw badInput(`the state of a run of a pool has ${runs.length} runs`);
  return only;
}

async function bundleOf(
  parts: readonly FoundPart[],
  about: { readonly runs: readonly GatheredRun[]; readonly before: Uint8Array | undefined; readonly at: number },
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
  const pages: LedgerPages = changedPages(ledger, about.before);
  return {
    ledger,
    hashes: [...others.keys()],
    with: async (hashes: readonly string[]): Promise<PoolBundle> => {
      const contents = new Map<string, Uint8Array>();
      for (const hash of hashes) contents.set(hash, await readFile(others.get(hash) ?? ''));
      return { manifest: JSON.stringify(manifest), pages, contents };
    },
  };
}
