import { SquadError, usageError } from '../../model/errors.ts';
import { WHOLE_RUN } from '../../model/plan/intervention.ts';
import type { RuntimeName } from '../../model/runtime-name.ts';
import { runtimeChoice } from '../../preflight/runtimes.ts';
import type { CommandContext, TaskOptions } from '../command-context.ts';
import { scopeOf } from '../option-values.ts';
import { openRun } from '../open-run.ts';
import { intervene } from './intervene.ts';

/** Refused before anything is stored where that runtime cannot be used here. */
export async function switchRuntime(
  context: CommandContext,
  runtime: RuntimeName,
  options: TaskOptions,
): Promise<void> {
  const on = scopeOf(options);
  if (on === WHOLE_RUN) {
    throw usageError(
      'squad switch needs --agent or --task',
      `For example: \`squad switch ${runtime} --agent builder-1\`.`,
    );
  }
  const { reading, composition } = await openRun(context, options.run);
  const probe = await composition.runtime(runtime, runtimeChoice(reading.definition.runtimes, runtime)).probe();
  if (!probe.ok) {
    const [problem] = probe.problems;
    throw new SquadError({
      code: 'wrong-environment',
      message: `${runtime} cannot be used here: ${problem?.text ?? 'its probe failed'}`,
      next: problem?.next ?? 'Run `squad doctor`.',
    });
  }
  const model = options.model === undefined ? {} : { model: options.model };
  await intervene(context, reading.row.id, { verb: 'switch', on, runtime, ...model }, options);
}
