import { listForkPoints } from '../../squad/fork.ts';
import { forkInPool } from '../../squad/pool/fork-in-pool.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import type { OfPool } from './pool-flags.ts';
import { printResult } from '../output.ts';
import { renderForkPoints } from '../render/fork-points.ts';
import { inPool, runIn } from './in-pool.ts';
import { withPool } from './with-pool.ts';

/** Makes a run of a pool that begins where another one was; without `at`, lists where it can begin. */
export async function forkOfPool(
  context: CommandContext,
  name: string | undefined,
  { at, name: own, pool = '', ...options }: Options<'fork'> & OfPool,
): Promise<void> {
  const { host, output } = context;
  if (at === undefined) {
    const place = await inPool(context, 'reads', { pool, run: name });
    const found = await listForkPoints({ host: place.context.host }, name);
    return printResult(output, options, { type: 'fork-points', ...found }, renderForkPoints(found, output));
  }
  const made = await withPool(context, { pool }, async (opened) => {
    const run = await runIn(opened, name);
    const { store } = opened;
    return forkInPool(host, { store, trigger: await opened.trigger() }, run, { at, name: own });
  });
  printResult(output, options, { type: 'run-forked', at: Date.now(), ...made }, [
    `${made.name} begins where event ${made.parent.seq} left ${plainLine(name ?? 'its parent', 80)}. It is in the pool: a worker takes it.`,
    `Look at it with \`squad status ${made.name} --pool URL\`.`,
  ]);
}
