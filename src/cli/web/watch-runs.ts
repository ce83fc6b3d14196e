import { findView, summarizeRun } from '../../view/run-summary.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { readShownTeam } from '../../squad/team/show-team.ts';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import { listQueue } from '../../view/queue.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
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
  const teams: KnownTeams = new Map();
  return {
    look: async () => {
      const begun = clock.monotonic();
      if (begun < readUntil) return undefined;
      const page = runsPage((await repositories.list(true)).map((one) => runsOf(one, teams)));
      const took = clock.monotonic() - begun;
      readUntil = begun + Math.max(READ_MS, took * (REST + 1));
      return page;
    },
    close: () => Promise.resolve(),
  };
}

/** By repository, as of this event among those of the workspace. */
type KnownTeams = Map<string, { readonly seq: number; readonly team: ShownTeam | undefined }>;

/** Read again only where something of the workspace was written since. */
function teamOf(ledger: Ledger, repository: string, known: KnownTeams): ShownTeam | undefined {
  const seq = ledger.lastSeq(WORKSPACE_STREAM);
  const before = known.get(repository);
  const now = before?.seq === seq ? before : { seq, team: readShownTeam(ledger) };
  known.set(repository, now);
  return now.team;
}

function runsOf({ id, name, workspace }: ShownRepository, teams: KnownTeams): RepositoryRuns {
  const { playbooks } = workspace.composition;
  const seen = lookIn(workspace, (ledger, lockedBy, now) => {
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
    const runs = found.map((run) => {
      const index = queue.findIndex(({ runId }) => runId === run.runId);
      const { state, why } = queue[index] ?? {};
      const queued = why === undefined ? null : { place: index + 1, waits: state === 'ready' ? null : why };
      return { ...run, queued };
    });
    return { runs: runs.toReversed(), team: teamOf(ledger, id, teams) };
  });
  return { id, name, root: workspace.repository.root, runs: [], ...seen };
}
