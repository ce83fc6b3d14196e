import { join } from 'node:path';
import type { Host } from '../../engine/machine.ts';
import { errorText, isSquadError, SquadError } from '../../model/errors.ts';
import {
  POOL_LEASE,
  type PoolClaim,
  type PoolRelease,
  type PoolRun,
  type PoolStore,
} from '../../substrate/ports/pool.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { plainLine } from '../../text/plain-text.ts';
import { openRun } from '../open-run.ts';
import { openWorkspace, type OpenedWorkspace } from '../open-workspace.ts';
import { itemsOfStored } from '../run-consent.ts';
import { isAllowed } from './allow-list.ts';
import { createBundles, type Bundles } from './bundles.ts';
import { hostRun } from './host-run.ts';
import { insist } from './insist.ts';
import { keepByRemote } from './keep-by-remote.ts';
import type { LeaseWatch } from './lease-watch.ts';
import { needOf, nextSegment } from './next-segment.ts';
import { obeyCommands } from './run-commands.ts';
import { openReplica } from './replica.ts';
import { makePlace } from './run-place.ts';
import { readPoolStatus } from './run-status.ts';

/** Until then another worker may take what cannot be done here, or a person brings what is missing. */
const AGAIN_MS = 60_000;

export interface SegmentPorts {
  /** The machine of the worker. */
  readonly host: Host;
  readonly store: PoolStore;
  readonly claim: PoolClaim;
  /** Folder of mirrors and checkouts. */
  readonly repos: string;
  readonly lease: LeaseWatch;
  /** Aborted: the run is given back once its turns have ended. */
  readonly draining: AbortSignal;
  /** Aborted: it is given back now. */
  readonly leaving: AbortSignal;
  readonly say: (text: string) => void;
}

/**
 * Works on a run of the pool from its newest bundle until it is over, waits, or is handed on. Throws `lease-fenced` once another worker has
 * it. Leaves nothing on this machine but the mirror.
 */
export async function runSegment(ports: SegmentPorts): Promise<void> {
  const { store, claim, lease, say } = ports;
  const folder = join(ports.repos, 'runs', `${claim.run}-${claim.epoch}`);
  try {
    const run = await store.run(claim.run);
    const release = await workOn(ports, run, folder).catch((error: unknown) => whyNot(ports, error));
    if (lease.lost.aborted) return say(`${run.name}: the lease was lost, so another worker may have it`);
    await insist(ports, async () => store.release(claim, release));
    say(`${run.name}: ${release.state}${release.why === null ? '' : `, ${plainLine(release.why, 400)}`}`);
  } finally {
    lease.stop();
    await deleteFolder(folder);
  }
}

/** A run that cannot be worked on here waits, so that its people see why. */
function whyNot({ claim }: SegmentPorts, error: unknown): PoolRelease {
  if (isSquadError(error) && error.code === 'lease-fenced') throw error;
  const next = isSquadError(error) && error.next !== undefined ? ` ${error.next}` : '';
  const why = `worker ${claim.worker}: ${errorText(error)}${next}`;
  return { state: 'waiting', why, again: Date.now() + AGAIN_MS };
}

async function workOn(ports: SegmentPorts, run: PoolRun, folder: string): Promise<PoolRelease> {
  const { host, repos, store, claim, lease, say } = ports;
  const place = await makePlace(host, repos, run, folder);
  const replica = await openReplica({ store, claim, run, place });
  const { clock, processes } = place.composition;
  const { remote, takenAt } = replica;
  const ended = new AbortController();
  const keeping = keepByRemote({ lease, remote, clock, processes, say }, ended.signal);
  const workspace = await openWorkspace(place);
  const keep = async (): Promise<void> => {
    await replica.store();
    await store.setStatus(claim, readPoolStatus(workspace, run.id));
  };
  const bundles = createBundles({ clock, store: keep, lost: lease.lost, say });
  try {
    await refuseUnlisted(host, run, workspace);
    // The agents of one that is only cut off from the database are gone by then.
    if (remote.isContested)
      await clock.sleep(Math.max(0, takenAt + POOL_LEASE.confirmedMs - clock.monotonic()), lease.lost);
    return await drive(ports, run, workspace, bundles);
  } finally {
    await bundles.close();
    ended.abort();
    await keeping;
    // Without it, the next worker waits.
    if (!lease.lost.aborted) await remote.giveUp().catch(() => undefined);
  }
}

/** The worker’s own list decides, by what the restored records say, and never by what someone agreed to elsewhere. */
async function refuseUnlisted(host: Host, { id, name, repository }: PoolRun, workspace: OpenedWorkspace) {
  const items = await itemsOfStored(workspace, id);
  if (await isAllowed(host, { repository, items })) return;
  throw new SquadError({
    code: 'not-trusted',
    message: `no person allowed this machine to work on ${name}`,
    next: `Read what it does, and allow it there: \`squad worker allow ${name}\`.`,
  });
}

async function drive(
  ports: SegmentPorts,
  run: PoolRun,
  place: OpenedWorkspace,
  bundles: Bundles,
): Promise<PoolRelease> {
  const { store, claim, draining, leaving, lease } = ports;
  const { clock } = place.composition;
  const obey = async (): Promise<number> => obeyCommands({ place, store, claim }, async () => bundles.flush());
  for (let began = false; ; began = true) {
    if ((await insist(ports, obey)) > 0) began = false;
    const { reading } = await openRun(place, run.id);
    const now = clock.now();
    const next = nextSegment(needOf(reading, now), { now, began: began || draining.aborted || leaving.aborted });
    if (next !== 'work') {
      await bundles.flush();
      // A command that came meanwhile is done before its sender has to wait for another worker.
      if ((await insist(ports, async () => store.commandsFor(run.id))).length > 0) continue;
      return next;
    }
    await hostRun({ ...ports, place, bundles, obey }, run);
    if (lease.lost.aborted) return { state: 'queued', why: null };
  }
}
