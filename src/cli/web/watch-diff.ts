import { openRun } from '../../squad/open-run.ts';
import type { OpenedWorkspace } from '../../squad/open-workspace.ts';
import { openLedger } from '../../substrate/ledger/index.ts';
import { diffPage } from './diff-page.ts';
import type { Watched } from './feed.ts';
import { type Changes, readChanges } from './run-facts.ts';

/** So many times as long as the reading took, nothing is read. */
const REST = 4;

/** Follows what a run has delivered. */
export function watchDiff(workspace: OpenedWorkspace, runId: string): Watched {
  const { clock } = workspace.composition;
  const ledger = openLedger(workspace.directory, { clock, readOnly: true });
  let version: number | undefined;
  let restUntil = 0;
  let shown: Changes | undefined;
  return {
    look: async () => {
      const changed = ledger.dataVersion();
      const begun = clock.monotonic();
      if (changed === version || begun < restUntil) return undefined;
      const isFirst = version === undefined;
      version = changed;
      const opened = await openRun(workspace, runId);
      const found = await readChanges(opened, shown);
      restUntil = clock.monotonic() + (clock.monotonic() - begun) * REST;
      if (!isFirst && found === shown) return undefined;
      shown = found;
      return diffPage(opened.reading.row.name, found);
    },
    close: () => Promise.resolve(ledger.close()),
  };
}
