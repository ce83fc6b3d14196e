import { compose, type Host } from '../../engine/compose.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { createProbes, whyNot } from '../preflight/runtimes.ts';
import { aboutSchema } from './about.ts';
import { isAllowed } from './allow-list.ts';

/** A person may install, log in or update meanwhile; and a probe starts programs. */
const PROBED_MS = 60_000;

/**
 * Why a worker leaves a run to others, looked up before it takes it; undefined: it does not. The process of the run looks again, at the restored
 * records.
 */
export function createRefusals(
  host: Host,
  clock: Pick<Clock, 'monotonic'>,
): (run: PoolRun) => Promise<string | undefined> {
  let probes: { readonly at: number; readonly of: ReturnType<typeof createProbes> } | undefined;
  const probe = async (name: string) => {
    if (probes === undefined || clock.monotonic() - probes.at > PROBED_MS)
      probes = { at: clock.monotonic(), of: createProbes(compose(host), {}) };
    return probes.of(name);
  };
  return async (run) => {
    const about = aboutSchema.safeParse(run.about).data;
    if (about === undefined) return 'another version of squad submitted it';
    if (!(await isAllowed(host, { repository: run.repository, items: about.items })))
      return `no person allowed this machine to work on it: \`squad worker allow ${run.name}\``;
    for (const name of about.probed) {
      const found = await probe(name);
      if (!found.ok) return `${name} cannot be used here: ${whyNot(found)}. \`squad doctor\` has the details`;
    }
    return undefined;
  };
}
