import { resolve } from 'node:path';
import { COORDINATE } from '../model/playbook-name.ts';
import type { RunDefinition } from '../model/run.ts';
import type { ObjectiveSource } from '../preflight/read-input.ts';
import { findRun } from '../read-model/read-run.ts';
import { unfinishedOf } from '../read-model/unfinished.ts';
import { realPath } from '../substrate/files/real-path.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import { openWorkspace, readIfThere, type Place } from './open-run.ts';

/** Id of the newest unfinished run of this objective. undefined: there is none. */
export async function findUnfinished(place: Place, objective: ObjectiveSource): Promise<string | undefined> {
  const workspace = await openWorkspace(place);
  const lockedBy = probeLock(workspace.directory);
  const now = workspace.composition.clock.now();
  return readIfThere(workspace, (ledger) =>
    ledger
      .runs()
      .toReversed()
      .find(({ id }) => {
        const reading = findRun(ledger, id, lockedBy);
        if (reading === undefined || unfinishedOf(reading, now) === undefined) return false;
        return isRunOf(reading.definition, objective, place.host.workingDirectory);
      }),
  )?.id;
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
