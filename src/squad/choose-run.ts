import { usageError } from '../model/errors.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { isOver, noRunYet } from '../view/read-run.ts';
import { listUnfinished, mostUrgent } from '../view/unfinished.ts';
import { lookIn, openRun, openWorkspace, requireRuns, type OpenedWorkspace, type Place } from './open-run.ts';

/** The run that `squad resume` is about. */
export interface ChosenRun {
  readonly runId: string;
  readonly name: string;
  /** Its engine is running and was paused, so that only the pause has to be lifted. */
  readonly isPaused: boolean;
  /** It is over, and the files of its folder are not complete: only they have to be written. */
  readonly isIncomplete: boolean;
  /** Why it was chosen; undefined: it was named. */
  readonly why: string | undefined;
  /** How many other runs are unfinished; 0 if it was named. */
  readonly others: number;
}

/** The named run, or the one that needs it most. Throws `usage` if there is none. `raises`: it gets new limits. */
export async function chooseRun(place: Place, name: string | undefined, raises: boolean): Promise<ChosenRun> {
  const workspace = await openWorkspace(place);
  requireRuns(workspace);
  const {
    name: known,
    why,
    others,
  } = name === undefined ? pick(workspace, raises) : { name, why: undefined, others: 0 };
  const { reading } = await openRun(place, known);
  const { row, driven, board } = reading;
  // A drained or stopped run is ending: only a pause keeps the engine.
  const isPaused = driven && board.pauses.get(WHOLE_RUN)?.verb === 'pause';
  const isIncomplete = reading.folderProblem !== null && isOver(reading);
  return { runId: row.id, name: row.name, isPaused, isIncomplete, why, others };
}

function pick(place: OpenedWorkspace, raises: boolean): { name: string; why: string; others: number } {
  const all = lookIn(place, listUnfinished);
  if (all === undefined) throw noRunYet();
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
