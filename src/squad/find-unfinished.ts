import { resolve } from 'node:path';
import { COORDINATE } from '../model/playbook-name.ts';
import type { RunDefinition } from '../model/run.ts';
import type { ObjectiveSource } from '../preflight/read-input.ts';
import { findDefinition, findRun, type RunReading } from '../read-model/read-run.ts';
import { unfinishedOf, type Unfinished } from '../read-model/unfinished.ts';
import { realPath } from '../substrate/files/real-path.ts';
import { lookIn, openWorkspace, type Place } from './open-run.ts';

/** The newest unfinished run of this objective that `counts`. undefined: there is none. */
export async function findUnfinished(
  place: Place,
  objective: ObjectiveSource,
  counts: (found: Unfinished, reading: RunReading) => boolean = () => true,
): Promise<Unfinished | undefined> {
  const workspace = await openWorkspace(place);
  return lookIn(workspace, (ledger, lockedBy, now) => {
    for (const row of ledger.runs().toReversed()) {
      // Most runs are about something else, and their plans are not read.
      const definition = findDefinition(ledger, row);
      if (definition === undefined || !isRunOf(definition, objective, place.host.workingDirectory)) continue;
      const reading = findRun(ledger, row.id, lockedBy);
      const found = reading && unfinishedOf(reading, now);
      if (reading !== undefined && found !== undefined && counts(found, reading)) return found;
    }
    return undefined;
  });
}

/**
 * Whether the run is about this: a session by its folder, a file by its path, an issue by its URL, another text by its words. A run of
 * `squad coordinate` is about none: it designs a session, and delivers nothing of the objective.
 */
export function isRunOf(
  { playbook, source, folder, objective: { text } }: RunDefinition,
  objective: ObjectiveSource,
  directory: string,
): boolean {
  if (playbook === COORDINATE) return false;
  if (typeof objective === 'object' && 'session' in objective) {
    return folder !== undefined && folder === realPath(resolve(directory, objective.session));
  }
  if (folder !== undefined) return false;
  if (typeof objective === 'string') return resolve(directory, source) === resolve(directory, objective);
  return text === objective.text || (objective.from?.includes('://') === true && source === objective.from);
}
