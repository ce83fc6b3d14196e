import { usageError } from '../../model/errors.ts';
import { BEST_OF, TRIES } from '../../model/playbook-name.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { run } from './run.ts';

/** A run of one playbook; what it may have for a number, the checks of the run say. */
export async function bestOf(
  context: CommandContext,
  count: string,
  objective: string,
  options: Options<'best-of'>,
): Promise<void> {
  if (!/^\d{1,9}$/.test(count)) {
    throw usageError(
      `“${plainLine(count, 80)}” is no number of tries`,
      `Name ${TRIES.least} to ${TRIES.most} first: \`squad best-of ${TRIES.usual} "add a login form"\`.`,
    );
  }
  await run(context, objective, { ...options, playbook: BEST_OF, tries: Number(count) });
}
