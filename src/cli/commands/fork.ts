import { squadOn } from '../../squad/squad.ts';
import { listForkPoints } from '../../squad/fork.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import type { OfPool } from '../pool/pool-flags.ts';
import { printResult } from '../output.ts';
import { renderForkPoints } from '../render/fork-points.ts';

/** Makes a run that begins where another one was; without `at`, lists where it can begin. */
export async function fork(
  context: CommandContext,
  run: string | undefined,
  given: Options<'fork'> & OfPool,
): Promise<void> {
  if (given.pool !== undefined) return (await import('../pool/fork-pool.ts')).forkOfPool(context, run, given);
  const { at, name, ...options } = given;
  const { output, host } = context;
  if (at === undefined) {
    const found = await listForkPoints({ host }, run);
    return printResult(output, options, { type: 'fork-points', ...found }, renderForkPoints(found, output));
  }
  const made = await squadOn(host).fork(run, { at, name });
  printResult(output, options, { type: 'run-forked', at: Date.now(), ...made }, [
    `${made.name} begins where event ${made.parent.seq} left ${plainLine(run ?? 'its parent', 80)}. Nothing runs yet.`,
    `Start it with \`squad resume ${made.name}\`.`,
  ]);
}
