import { usageError } from '../model/errors.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { findDefinition, findRun, incomplete, isOver, type RunReading } from '../view/read-run.ts';
import { noRunYet } from '../model/unknown-name.ts';
import { endOfRun } from '../view/end-row.ts';
import { listUnfinished, mostUrgent, unfinishedOf, type Unfinished } from '../view/unfinished.ts';
import { refuseMoved } from '../substrate/ledger/moved-mark.ts';
import type { ObjectiveSource } from './sources/source-of.ts';
import { sourceIn } from './folder-runs.ts';
import { openRun } from './open-run.ts';
import { lookIn, openWorkspace, requireRuns, type OpenedWorkspace, type Place } from './open-workspace.ts';

/** The run that `squad resume` is about. */
export interface ChosenRun {
  readonly runId: string;
  readonly name: string;
  /** Its engine is running and was paused, so that only the pause has to be lifted. */
  readonly isPaused: boolean;
  /** It is over, and a folder that it writes is not complete: only that has to be written. */
  readonly isIncomplete: boolean;
  /** Why it was chosen; undefined: it was named. */
  readonly why: string | undefined;
  /** How many other runs are unfinished; 0 if it was named. */
  readonly others: number;
}

/** The named run, or the one that needs it most. Throws `usage` if there is none. `raises`: it gets new limits. */
export async function chooseRun(place: Place, name: string | undefined, raises: boolean): Promise<ChosenRun> {
  const workspace = await openWorkspace(place);
  refuseMoved(workspace.directory);
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
  const isIncomplete = isOver(reading) && incomplete(reading).length > 0;
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

/** The newest unfinished run of this objective that `counts`. undefined: there is none. */
export async function findUnfinished(
  place: Place,
  objective: ObjectiveSource,
  counts: (found: Unfinished, reading: RunReading) => boolean = () => true,
): Promise<Unfinished | undefined> {
  const workspace = await openWorkspace(place);
  const source = sourceIn(workspace, objective);
  return lookIn(workspace, (ledger, lockedBy, now) => {
    for (const row of ledger.runs().toReversed()) {
      if (endOfRun(ledger, row) !== undefined) continue;
      // Most runs are about something else, and their plans are not read.
      const definition = findDefinition(ledger, row);
      if (definition === undefined || !source.isOf(definition)) continue;
      const reading = findRun(ledger, row.id, lockedBy);
      const found = reading && unfinishedOf(reading, now);
      if (reading !== undefined && found !== undefined && counts(found, reading)) return found;
    }
    return undefined;
  });
}
