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
  /** Why squad chose this run; absent if it was named. */
  readonly why?: string;
  /** The number of other unfinished runs. */
  readonly others: number;
  /** An engine is running and a person paused the run: only the pause has to be lifted. */
  readonly isPaused: boolean;
}

/** The run to resume. Throws `usage` if there is none. `raises`: the command line has new limits for it. */
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
  // A drained or stopped run is ending: only a pause keeps the engine.
  const isPaused = driven && board.pauses.get(WHOLE_RUN)?.verb === 'pause';
  const { why, others } = known;
  return { runId: row.id, name: row.name, isPaused, others, ...(why === undefined ? {} : { why }) };
}

async function pick(context: CommandContext, raises: boolean): Promise<{ name: string; why: string; others: number }> {
  const { directory, composition } = await openWorkspace(context);
  const lockedBy = probeLock(directory);
  const now = composition.clock.now();
  const all = readLedger(directory, composition, (ledger) => listUnfinished(ledger, lockedBy, now));
  // While an engine is running, only its own run can be resumed.
  const driven = all.find(({ need }) => need === 'driven');
  const chosen = driven ?? mostUrgent(all, raises);
  if (chosen === undefined) {
    throw new SquadError({
      code: 'usage',
      message: 'there is no run to resume here',
      next: 'See `squad status`, or start a run: `squad run objective.md`.',
    });
  }
  const others = all.length - 1;
  if (others === 0) return { name: chosen.runId, why: chosen.why, others };
  const rest = `${others} other${others === 1 ? '' : 's'} unfinished`;
  return { name: chosen.runId, why: `${chosen.why} (${rest}; name one to choose)`, others };
}
