import { readRun } from '../../view/read-run.ts';
import type { OpenQuestion } from '../../view/open-questions.ts';
import { listUnfinished } from '../../view/unfinished.ts';
import { plainLine } from '../../text/plain-text.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

/** The runs that ask a person, and what. */
export function askingRuns(
  workspace: OpenedWorkspace,
): { name: string; asks: Pick<OpenQuestion, 'id' | 'text' | 'options'>[] }[] {
  const found = lookIn(workspace, (ledger, lockedBy, now) =>
    listUnfinished(ledger, lockedBy, now).flatMap(({ runId, name }) => {
      const open = readRun(ledger, runId, lockedBy).questions.filter(({ recorded }) => recorded === null);
      return open.length === 0
        ? []
        : [{ name, asks: open.map(({ id, text, options }) => ({ id, text: plainLine(text, 1_000), options })) }];
    }),
  );
  return found ?? [];
}
