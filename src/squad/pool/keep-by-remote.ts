import { isSquadError } from '../../model/errors.ts';
import type { RunRemote } from '../../substrate/git/run-remote.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import { POOL_LEASE } from '../../substrate/ports/pool.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { LeaseWatch } from './lease-watch.ts';

/** A renewal was due, and has not come. */
const SILENT_MS = POOL_LEASE.renewMs + 1_000;
const LOOK_MS = 500;

/**
 * Keeps the right to a run while the database is away: another worker that takes the run over there moves the lease ref of the remote first,
 * and then waits for longer than a look at it counts here.
 */
export async function keepByRemote(
  ports: {
    readonly lease: LeaseWatch;
    readonly remote: Pick<RunRemote, 'confirm'>;
    readonly clock: Clock;
    readonly processes: Pick<Processes, 'sinceBoot'>;
    readonly say: (text: string) => void;
  },
  ended: AbortSignal,
): Promise<void> {
  const { lease, remote, clock, processes, say } = ports;
  let isAlone = false;
  while (!ended.aborted && !lease.lost.aborted) {
    if (lease.silentMs() < SILENT_MS) isAlone = false;
    else {
      const began = processes.sinceBoot().ms;
      try {
        await remote.confirm();
        lease.confirmed(POOL_LEASE.confirmedMs - (processes.sinceBoot().ms - began));
        if (!isAlone)
          say('the pool does not answer; the run works on, because the remote says that no other worker has it');
        isAlone = true;
      } catch (error) {
        // While the remote is away as well, the lease ends by itself.
        if (isSquadError(error) && error.code === 'lease-fenced') lease.lose();
      }
    }
    await clock.sleep(LOOK_MS, ended);
  }
}
