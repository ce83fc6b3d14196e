import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { errorText } from '../../model/errors.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';
import { readTeamSettings, type TeamSettings } from './team-settings.ts';
import { writeTeamFiles } from './write-team-files.ts';

/** While a sprint works, its records change every few seconds. */
const PAUSE_MS = 5_000;

/**
 * Keeps the files of the team up to date with its records. A call writes nothing while they are as they were at the last one, or were
 * written a moment ago. `say` gets why they could not be written, once for each reason: the records count, and the next call tries again.
 */
export function teamFilesKeeper(say: (text: string) => void, settings?: TeamSettings) {
  let written = -1;
  let at = -Infinity;
  let problem = '';
  return async (workspace: OpenedWorkspace, { isLast = false }: { readonly isLast?: boolean } = {}): Promise<void> => {
    const { clock } = workspace.composition;
    const seq = lookIn(workspace, (ledger) => ledger.lastSeq(WORKSPACE_STREAM)) ?? 0;
    if (seq === written || (!isLast && clock.monotonic() < at + PAUSE_MS)) return;
    at = clock.monotonic();
    try {
      const { kept } = await writeTeamFiles(workspace, settings ?? (await readTeamSettings(workspace)));
      written = seq;
      for (const { path, as } of kept) say(`${path} was yours: it is ${as} now`);
    } catch (error) {
      const text = `the files of the team were not written: ${errorText(error)}`;
      if (text !== problem) say(text);
      problem = text;
    }
  };
}
