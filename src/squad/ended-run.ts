import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import { SPRINT } from '../model/playbook-name.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { WorkPlace } from '../model/work-place.ts';
import { engineTime } from '../model/spending.ts';
import { failuresOf } from '../view/explain-failure.ts';
import { workOf } from '../view/next-commands.ts';
import type { RunHistory } from '../view/read-run.ts';
import { endOf, type RunEnd, type RunningRun } from '../view/running-run.ts';
import { sprintPlace } from '../view/sprint/sprint-place.ts';
import { progressOf } from '../view/usage-count.ts';
import type { RunView } from '../view/run-view.ts';
import { repositoriesIn, viewOf, type ViewFacts } from '../view/view-of.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { listKeptWork, type Checkout } from '../substrate/git/repository.ts';
import { defined } from '../text/defined.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';

/** The handle of a run that is over: `done` gives the end that the run had, and there is nothing to stop. */
export async function endedRun(workspace: OpenedWorkspace, reading: RunHistory): Promise<RunningRun> {
  const { row, board, totals, segments } = reading;
  const end = await endOfRun(workspace, reading);
  return {
    runId: row.id,
    name: row.name,
    done: Promise.resolve(end),
    progress: () => progressOf(board, totals, engineTime(segments)),
    drain: () => undefined,
    cancel: () => Promise.resolve(),
    kill: () => Promise.resolve(),
    leftTurns: () => Promise.resolve(undefined),
  };
}

/** How the last engine left the run, with what people have done with its refs since. The engine must have ended. */
export async function endOfRun(opened: InGit, reading: RunHistory): Promise<RunEnd> {
  const view = await viewInGit(opened, reading, { now: opened.composition.clock.now() });
  return endOf(view, join(opened.directory, 'runs', reading.row.id, 'report.md'));
}

type InGit = Pick<OpenedWorkspace<Machine>, 'composition' | 'repository' | 'directory'>;

/** A view with where the work of the run is in git. */
export async function viewInGit(
  opened: InGit,
  reading: RunHistory,
  facts: Omit<ViewFacts, 'kept' | 'place'>,
): Promise<RunView> {
  const { repository, composition } = opened;
  const { git } = composition;
  const work = workOf(reading);
  const run = { runId: reading.row.id, playbook: reading.definition.playbook };
  const several = reading.published?.repositories === undefined ? undefined : repositoriesIn(reading);
  const place = work && (placeInTeam(opened, run) ?? (await placeOfAll(git, repository, work, several)));
  // Only a task that did not end well is shown with the refs of its work, and git takes as long as all the rest.
  const hasFailed = failuresOf(reading, []).length > 0;
  const kept = hasFailed ? await listKeptWork(git, repository.root, reading.row.name) : [];
  return viewOf(reading, { ...facts, kept, place });
}

/** Where the work of a run is, in its repository or in all of them. */
export async function placeOfAll(
  git: Machine['git'],
  repository: Checkout,
  work: Parameters<typeof placeOfWork>[2],
  several: RunView['run']['repositories'],
): Promise<WorkPlace> {
  if (several === undefined || several.every(({ head }) => head === null)) return placeOfWork(git, repository, work);
  return (await import('../substrate/git/joined/place-of-several.ts')).placeOfSeveral(git, work.run, several);
}

/** Where the line of the team has the work of a sprint; undefined: it is in git alone. */
export function placeInTeam(
  { directory, composition }: Pick<InGit, 'directory' | 'composition'>,
  { runId, playbook }: Pick<RunView['run'], 'runId' | 'playbook'>,
): WorkPlace | undefined {
  return playbook === SPRINT ? lookIn({ directory, composition }, (ledger) => sprintPlace(ledger, runId)) : undefined;
}

/** The last line of `--json`. */
export function endEvent(
  { head, pushed, failures, rejections, baseline, next, questions, ...end }: RunEnd,
  exitCode = end.exitCode,
): RunEvent {
  const { runId, name, outcome, headline, why, branch, report } = end;
  return {
    ...{ type: 'run-ended', at: Date.now(), runId, name, outcome, headline, why, exitCode },
    ...defined({ branch, head, pushed }),
    report,
    failures: [...failures],
    rejections: [...rejections],
    ...defined({ baseline: baseline && [...baseline] }),
    next: [...next],
    questions: [...questions],
  };
}
