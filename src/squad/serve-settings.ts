import { recordLimits } from '../substrate/ledger/record-limits.ts';
import { isSquadError } from '../model/errors.ts';
import type { ServeSettings } from '../model/shared-limits.ts';
import { hasLedger } from '../substrate/ledger/index.ts';
import { withLedger, type OpenedWorkspace } from './open-workspace.ts';
import { readSettings } from './preflight/read-settings.ts';

/** `problem`: for people. */
export interface FoundServe {
  readonly serve?: ServeSettings;
  readonly problem?: string;
}

/** The files' limits of all runs, as they are now. A resume needs no other part of the files, so a mistake there does not stop it. */
export async function readServe({ host, composition, repository }: OpenedWorkspace): Promise<FoundServe> {
  try {
    return { serve: (await readSettings(repository.root, composition, host)).settings.serve };
  } catch (error) {
    if (!isSquadError(error)) throw error;
    return { problem: `the limits of all runs together stay as they were: ${error.message}` };
  }
}

/** Makes them hold before a run is looked for that may continue. Returns the problem of the files. */
export async function recordServe(workspace: OpenedWorkspace): Promise<string | undefined> {
  if (!hasLedger(workspace.directory)) return undefined;
  const { serve, problem } = await readServe(workspace);
  await withLedger(workspace, 'write', (ledger) => recordLimits(ledger, serve));
  return problem;
}
