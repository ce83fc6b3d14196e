import { forgePortsOf, type Host } from '../../engine/machine.ts';
import { compose } from '../../engine/compose.ts';
import { offerRun } from '../../substrate/git/run-remote.ts';
import type { PoolRun } from '../../substrate/ports/pool.ts';
import { fork, type ForkedRun } from '../fork.ts';
import { openWorkspace } from '../open-workspace.ts';
import { nameRun, refuseBadName } from '../preflight/run-name.ts';
import { firstBundle } from './replica.ts';
import { describe } from './submit-to-pool.ts';
import { viewRun } from './view-run.ts';
import { wakeFor, type WakePorts } from './wake.ts';

/** Makes a run of the pool that begins where another one was. Its worker finds the commits at the remote. */
export async function forkInPool(
  host: Host,
  pool: WakePorts,
  run: PoolRun,
  { at, name }: { readonly at: number; readonly name?: string | undefined },
): Promise<ForkedRun> {
  refuseBadName(name);
  const { store } = pool;
  const { repository: url, labels } = run;
  const live = (await store.runs()).filter((one) => one.repository === url && one.state !== 'removed');
  const taken = live.map((one) => one.name);
  const own = nameRun({ given: name, objective: run.name, title: '' }, taken);
  const view = await viewRun({ host, store }, run, 'here', [own]);
  try {
    const place = { host: view.host, composition: compose(view.host) };
    const made = await fork(place, run.id, { at, name: own });
    const opened = await openWorkspace(place);
    const { bundle, refs } = await firstBundle(place, store, made.runId);
    // First: no worker may get a run without its commits.
    await offerRun(forgePortsOf(place), opened.repository, url, refs);
    await store.submit(await describe(opened, made.runId, { url, labels }), bundle);
    await wakeFor(pool, await store.run(made.runId));
    return made;
  } finally {
    await view.close();
  }
}
