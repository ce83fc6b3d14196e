import { submitToPool } from '../../squad/pool/submit-to-pool.ts';
import type { LimitOptions } from '../../model/limit-table.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { newRunOf } from '../consent.ts';
import { givenSource } from '../given-source.ts';
import { printResult } from '../output.ts';
import type { PoolOptions } from './pool-flags.ts';
import { listOf, withPool } from './with-pool.ts';

/** Gives an objective to a pool. */
export async function submitRun(
  context: CommandContext,
  given: string | undefined,
  options: PoolOptions<'submit'> & LimitOptions,
): Promise<void> {
  const objective = await givenSource(context, given, options);
  const { key, priority, remote, labels } = options;
  const submitted = await withPool(context, options, async ({ store, trigger }) =>
    submitToPool({ host: context.host }, { store, trigger: await trigger() }, objective, {
      ...newRunOf(context, options),
      ...{ key, priority, remote, labels: listOf(labels) },
    }),
  );
  const { warnings, ...found } = submitted;
  for (const text of warnings) context.output.problem(`note: ${plainLine(text, 800)}`);
  const { name, known, repository } = found;
  printResult(context.output, options, { type: 'run-submitted', ...found }, [
    known ? `${name} was submitted before.` : `${name} is in the pool, for ${repository}.`,
    `  look    squad pool`,
    `  status  squad status ${name} --pool URL`,
    `  take    squad merge ${name} --pool URL`,
  ]);
}
