import type { ObjectiveSource } from './sources/source-of.ts';
import { findDefinition, findRun, type RunReading } from '../view/read-run.ts';
import { unfinishedOf, type Unfinished } from '../view/unfinished.ts';
import { sourceIn } from './folder-runs.ts';
import { lookIn, openWorkspace, type Place } from './open-run.ts';

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
