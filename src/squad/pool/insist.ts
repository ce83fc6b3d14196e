import { openMachine, type Host } from '../../engine/machine.ts';
import { isSquadError } from '../../model/errors.ts';
import type { LeaseWatch } from './lease-watch.ts';

const AGAIN_MS = 1_000;

/** Repeats what the database does not answer to, until it does or the run is lost: what this machine alone has must not be thrown away. */
export async function insist<T>(
  { host, lease }: { readonly host: Host; readonly lease: Pick<LeaseWatch, 'lost'> },
  work: () => Promise<T>,
): Promise<T> {
  const { clock } = openMachine(host);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (lease.lost.aborted || !isSquadError(error) || error.code !== 'storage-refused') throw error;
    }
    await clock.sleep(AGAIN_MS, lease.lost);
  }
}
