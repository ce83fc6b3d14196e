import { findView, summarizeRun } from '../../view/run-summary.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { listQueue } from '../../view/queue.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Watched } from './feed.ts';
import { runsPage, type RepositoryRuns } from './runs-page.ts';
import type { ShownRepository, Repositories } from './repositories.ts';

const READ_MS = 1_000;
/** For each repository; `squad runs` lists all. */
const MOST_RUNS = 100;
/** So many times as long as the reading took, nothing is read. */
const REST = 4;

/** Follows the list of all runs. */
export function watchRuns(repositories: Repositories, clock: Pick<Clock, 'monotonic'>): Watched {
  let readUntil = 0;
  return {
    look: async () => {
      const begun = clock.monotonic();
      if (begun < readUntil) return undefined;
      const page = runsPage((await repositories.list(true)).map(runsOf));
      const took = clock.monotonic() - begun;
      readUntil = begun + Math.max(READ_MS, took * (REST + 1));
      return page;
    },
    close: () => Promise.resolve(),
  };
}

function runsOf({ id, name, workspace }: ShownRepository): RepositoryRuns {
  const { playbooks } = workspace.composition;
  const all = lookIn(workspace, (ledger, lockedBy, now) => {
    const found = ledger
      .runs()
      .slice(-MOST_RUNS)
      .flatMap((row) => {
        const of = [ledger, row, lockedBy, now, playbooks] as const;
        const summary = summarizeRun(...of);
        if (summary === undefined) return [];
        return { ...summary, open: summary.headline === null ? (findView(...of)?.questions.length ?? 0) : 0 };
      });
    const queue = found.some(({ state }) => state === 'queued') ? listQueue(ledger, now) : [];
    return found.map((run) => {
      const index = queue.findIndex(({ runId }) => runId === run.runId);
      const { state, why } = queue[index] ?? {};
      const queued = why === undefined ? null : { place: index + 1, waits: state === 'ready' ? null : why };
      return { ...run, queued };
    });
  });
  return { id, name, root: workspace.repository.root, runs: (all ?? []).toReversed() };
}
