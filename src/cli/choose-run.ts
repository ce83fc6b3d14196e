import { SquadError } from '../model/errors.ts';
import { WHOLE_RUN } from '../model/plan/intervention.ts';
import { listUnfinished, mostUrgent } from '../read-model/unfinished.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { CommandContext } from './command-context.ts';
import { bringUpToDate } from '../substrate/ledger/index.ts';
import { openRun, openWorkspace, readLedger } from './open-run.ts';

export interface ChosenRun {
  readonly runId: string;
  readonly name: string;
  /** Why this one, where nobody named it. */
  readonly why?: string;
  /** Runs that could have been meant as well. */
  readonly others: number;
  /** An engine drives it, and a person held it back: there is nothing to drive, only to let go. */
  readonly letGo: boolean;
}

/** The run to go on with. Throws `usage` where none is left. `raises`: somebody gave new limits for it. */
export async function chooseRun(
  context: CommandContext,
  name: string | undefined,
  raises: boolean,
): Promise<ChosenRun> {
  const { directory, composition } = await openWorkspace(context);
  bringUpToDate(directory, composition.clock);
  const known = name === undefined ? await pick(context, raises) : { name, why: undefined, others: 0 };
  const { reading } = await openRun(context, known.name);
  const { row, driven, board } = reading;
  // One that was drained or stopped is ending: only a pause keeps an engine.
  const letGo = driven && board.pauses.get(WHOLE_RUN)?.verb === 'pause';
  const { why, others } = known;
  return { runId: row.id, name: row.name, letGo, others, ...(why === undefined ? {} : { why }) };
}

async function pick(context: CommandContext, raises: boolean): Promise<{ name: string; why: string; others: number }> {
  const { directory, composition } = await openWorkspace(context);
  const lockedBy = probeLock(directory);
  const now = composition.clock.now();
  const all = readLedger(directory, composition, (ledger) => listUnfinished(ledger, lockedBy, now));
  // While an engine lives, only what it drives can be let go on.
  const driven = all.find(({ need }) => need === 'driven');
  const chosen = driven ?? mostUrgent(all, raises);
  if (chosen === undefined) {
    throw new SquadError({
      code: 'usage',
      message: 'no run here is left to go on with',
      next: 'See `squad status`, or start one: `squad run objective.md`.',
    });
  }
  const others = all.length - 1;
  if (others === 0) return { name: chosen.runId, why: chosen.why, others };
  const rest = `${others} other${others === 1 ? '' : 's'} unfinished`;
  return { name: chosen.runId, why: `${chosen.why} (${rest}; name one to choose)`, others };
}
