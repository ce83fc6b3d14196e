import { squadOn } from '../../squad/squad.ts';
import { listForkPoints } from '../../squad/fork.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';
import { renderForkPoints } from '../render/fork-points.ts';

/** Makes a run that begins where another one was; without `at`, lists where it can begin. */
export async function fork(
  { output, host }: CommandContext,
  run: string | undefined,
  { at, name, ...options }: Options<'fork'>,
): Promise<void> {
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
