import { usageError } from '../model/errors.ts';
import { WHOLE_RUN } from '../model/plan/intervention.ts';
import { listUnfinished, mostUrgent } from '../read-model/unfinished.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { CommandContext } from './command-context.ts';
import { bringUpToDate } from '../substrate/ledger/index.ts';
import { openRun, openWorkspace, readLedger, type LedgerPlace } from './open-run.ts';

interface ChosenRun {
  readonly runId: string;
  readonly name: string;
  /** Why squad chose this run; undefined if it was named. */
  readonly why: string | undefined;
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
  const workspace = await openWorkspace(context);
  bringUpToDate(workspace.directory, workspace.composition.clock);
  const known = name === undefined ? pick(workspace, raises) : { name, why: undefined, others: 0 };
  const { reading } = await openRun(context, known.name);
  const { row, driven, board } = reading;
  // A drained or stopped run is ending: only a pause keeps the engine.
  const isPaused = driven && board.pauses.get(WHOLE_RUN)?.verb === 'pause';
  return { runId: row.id, name: row.name, isPaused, others: known.others, why: known.why };
}

function pick(place: LedgerPlace, raises: boolean): { name: string; why: string; others: number } {
  const lockedBy = probeLock(place.directory);
  const now = place.composition.clock.now();
  const all = readLedger(place, (ledger) => listUnfinished(ledger, lockedBy, now));
  // While an engine is running, only its own run can be resumed.
  const driven = all.find(({ need }) => need === 'driven');
  const chosen = driven ?? mostUrgent(all, raises);
  if (chosen === undefined) {
    throw usageError('there is no run to resume here', 'See `squad status`, or start a run: `squad run objective.md`.');
  }
  const others = all.length - 1;
  if (others === 0) return { name: chosen.runId, why: chosen.why, others };
  const rest = `${others} other${others === 1 ? '' : 's'} unfinished`;
  return { name: chosen.runId, why: `${chosen.why} (${rest}; name one to choose)`, others };
}
