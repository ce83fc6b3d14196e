import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import type { RunEvent } from '../model/run-event.ts';
import { engineTime } from '../model/spending.ts';
import { workOf } from '../view/next-commands.ts';
import type { RunHistory } from '../view/read-run.ts';
import { endOf, type RunEnd, type RunningRun } from '../view/running-run.ts';
import { progressOf } from '../view/usage-count.ts';
import { viewOf } from '../view/view-of.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { defined } from '../text/defined.ts';
import type { OpenedWorkspace } from './open-workspace.ts';

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
export async function endOfRun(
  { directory, composition, repository }: Pick<OpenedWorkspace<Machine>, 'directory' | 'composition' | 'repository'>,
  reading: RunHistory,
): Promise<RunEnd> {
  const { git, clock } = composition;
  const kept = await listKeptWork(git, repository.root, reading.row.name);
  const work = workOf(reading);
  const place = work && (await placeOfWork(git, repository, work));
  const view = viewOf(reading, { now: clock.now(), kept, place });
  return endOf(view, join(directory, 'runs', reading.row.id, 'report.md'));
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
    questions: questions.map(({ id, text, options }) => ({ id, text, options: [...options] })),
  };
}
