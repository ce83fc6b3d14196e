import { findRun } from '../read-model/read-run.ts';
import { unfinishedOf, type Unfinished } from '../read-model/unfinished.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import { openWorkspace, readIfThere, type Place } from './open-run.ts';

/** A run of this repository. */
export interface RunSummary {
  readonly runId: string;
  readonly name: string;
  /** Title of its objective. */
  readonly objective: string;
  /** Path of its objective, as it was given. */
  readonly source: string;
  readonly playbook: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** What it needs to continue, in one word; null: it is over. */
  readonly need: Unfinished['need'] | null;
  /** The same in a few words; null: it is over. */
  readonly why: string | null;
}

/** Every run of the repository, the newest first. Reads the whole history of each. */
export async function listRuns(place: Place): Promise<RunSummary[]> {
  const workspace = await openWorkspace(place);
  const { directory, composition } = workspace;
  const lockedBy = probeLock(directory);
  const all = readIfThere(workspace, (ledger) =>
    ledger.runs().flatMap(({ id }) => {
      const reading = findRun(ledger, id, lockedBy);
      if (reading === undefined) return [];
      const { row, definition } = reading;
      const { objective, source, playbook } = definition;
      const { need = null, why = null } = unfinishedOf(reading, composition.clock.now()) ?? {};
      return {
        runId: row.id,
        name: row.name,
        objective: objective.title,
        source,
        playbook,
        createdAt: row.createdAt,
        need,
        why,
      };
    }),
  );
  return (all ?? []).toReversed();
}
