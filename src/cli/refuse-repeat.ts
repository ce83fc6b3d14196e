import { usageError } from '../model/errors.ts';
import { isUnstarted } from '../view/read-run.ts';
import { predictBoard } from '../view/replay-plan.ts';
import type { ObjectiveSource } from '../squad/sources/source-of.ts';
import { findUnfinished } from '../squad/choose-run.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext } from './command-context.ts';
import { confirm } from './consent.ts';

interface Given {
  /** Who names a run, or gives it an id, knows that it is another one. */
  readonly name?: string | undefined;
  readonly runId?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/**
 * Says that a run of this objective is not over before another one pays for the same work: asks at a terminal, and otherwise throws
 * `usage`. A run that an engine drives has a refusal of its own.
 */
export async function refuseRepeat(context: CommandContext, objective: ObjectiveSource, given: Given): Promise<void> {
  if (given.name !== undefined || given.runId !== undefined) return;
  const found = await findUnfinished(context, objective, ({ need }, reading) => {
    // A fork that was never started has cost nothing, and a cancelled run only has to end.
    const isEnding = predictBoard(reading.board, reading.pendingRequests).finished !== null;
    return need !== 'driven' && !isUnstarted(reading) && !isEnding;
  });
  if (found === undefined) return;
  const { name } = found;
  const why = `run ${name} of this objective is not over (${plainLine(found.why, 200)}), and a new one does its work again`;
  const isAsked = process.stdin.isTTY && process.stderr.isTTY && given.yes !== true && given.json !== true;
  if (isAsked) {
    context.output.problem(`squad: ${why}. \`squad resume ${name}\` continues it.`);
    if (await confirm('Start a new run all the same?')) return;
  }
  throw usageError(
    isAsked ? 'no new run was started' : why,
    `Continue it with \`squad resume ${name}\`, give it up with \`squad cancel ${name}\`, or name the new one: \`--name NAME\`.`,
  );
}
