import { TURN_EVENTS, type RunEvent } from '../../model/run-event.ts';
import type { PoolClaim, PoolRun } from '../../substrate/ports/pool.ts';
import type { RunEnd } from '../../view/running-run.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { openRun } from '../open-run.ts';
import { resume } from '../run.ts';
import type { Bundles } from './bundles.ts';
import type { LeaseWatch } from './lease-watch.ts';

/** No queue has to keep a job for longer than a day. */
const LONGEST_MS = 20 * 3_600_000;
/** A reset of a usage limit that comes sooner is waited for here. */
const PATIENCE_MS = 60_000;
const MINUTE = 60_000;
/** Between two looks for commands. */
const LOOK_MS = 500;

const OF_TURNS: ReadonlySet<string> = new Set(TURN_EVENTS);

interface HostedPorts {
  readonly claim: PoolClaim;
  readonly place: OpenedWorkspace;
  readonly bundles: Bundles;
  readonly lease: LeaseWatch;
  readonly draining: AbortSignal;
  readonly leaving: AbortSignal;
  readonly say: (text: string) => void;
  /** Does what people asked for meanwhile. */
  readonly obey: () => Promise<number>;
}

/** Drives the run here until its engine ends. */
export async function hostRun(ports: HostedPorts, run: PoolRun): Promise<RunEnd> {
  const { place, bundles, lease, draining, claim } = ports;
  const { clock } = place.composition;
  const { unreplicated } = (await openRun(place, run.id)).reading.definition.limits;
  const onEvent = ({ type }: RunEvent): void => {
    if (!OF_TURNS.has(type)) bundles.request();
  };
  const running = await resume(place, run.id, {
    // The worker’s own list has allowed it.
    trust: 'yes',
    patienceMs: PATIENCE_MS,
    onEvent,
    beforeDelivery: async () => bundles.flush(),
  });
  const by = `worker ${claim.worker}`;
  const drain = (): void => running.drain(by);
  const forget = [
    // Before another machine may start the same turns.
    onAbort(lease.lost, () => void running.kill()),
    onAbort(draining, drain),
    onAbort(ports.leaving, () => void running.cancel(`${by} ends`)),
  ];
  const ended = new AbortController();
  const until = clock.monotonic() + LONGEST_MS;
  let isAlone = false;
  const watching = (async () => {
    while (!ended.signal.aborted && !lease.lost.aborted) {
      // The next look finds what this one could not.
      await ports.obey().catch(() => undefined);
      const wasAlone = isAlone;
      isAlone = bundles.unstoredMs() > unreplicated * MINUTE;
      if (isAlone && !wasAlone)
        ports.say(
          `nothing could be kept for ${unreplicated} min (limits.unreplicated): no turn starts until that is done`,
        );
      if (clock.monotonic() > until || isAlone) drain();
      await clock.sleep(LOOK_MS, ended.signal);
    }
  })();
  try {
    return await running.done;
  } finally {
    ended.abort();
    for (const one of forget) one();
    await watching;
  }
}

/** Returns what takes it back. */
function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) act();
  else signal.addEventListener('abort', act, { once: true });
  return () => signal.removeEventListener('abort', act);
}
