import { readRun } from '../../view/read-run.ts';
import { listUnfinished } from '../../view/unfinished.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

/** The runs that ask a person, and what. */
export function askingRuns(workspace: OpenedWorkspace): { name: string; asks: string[] }[] {
  const found = lookIn(workspace, (ledger, lockedBy, now) =>
    listUnfinished(ledger, lockedBy, now).flatMap(({ runId, name }) => {
      const open = readRun(ledger, runId, lockedBy).questions.filter(({ recorded }) => recorded === null);
      return open.length === 0 ? [] : [{ name, asks: open.map(({ text }) => plainLine(text, 300)) }];
    }),
  );
  return found ?? [];
}
