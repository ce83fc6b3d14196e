import { join } from 'node:path';
import type { RunEnd, RunningRun } from '../read-model/running-run.ts';
import type { RunEvent } from '../model/run-event.ts';
import { exitCodeOf } from '../model/run-state.ts';
import { branchOf, pushedOf } from '../model/run.ts';
import { engineTime } from '../model/spending.ts';
import { baselineOf } from '../read-model/baseline-text.ts';
import { failuresOf } from '../read-model/explain-failure.ts';
import type { RunHistory } from '../read-model/read-run.ts';
import { standingOf, type RunStanding } from '../read-model/run-state.ts';
import { rejectionsOf } from '../read-model/rejections.ts';
import { nextCommandsOf, workOf } from '../read-model/next-commands.ts';
import { progressOf } from '../read-model/usage-count.ts';
import type { Machine } from '../machine.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { defined } from '../text/defined.ts';
import type { OpenedWorkspace } from './open-run.ts';

/** The handle of a run that is over: `done` gives the end that the run had, and there is nothing to stop. */
export async function endedRun(workspace: OpenedWorkspace, reading: RunHistory): Promise<RunningRun> {
  const { row, board, totals, segments } = reading;
  const end = await endOf(workspace, reading);
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
export async function endOf(
  { directory, composition, repository }: Pick<OpenedWorkspace<Machine>, 'directory' | 'composition' | 'repository'>,
  reading: RunHistory,
): Promise<RunEnd> {
  const { git } = composition;
  const kept = await listKeptWork(git, repository.root, reading.row.name);
  const isOver = reading.published?.branch !== undefined;
  const place = isOver ? await placeOfWork(git, repository, workOf(reading)) : undefined;
  const { row, published, questions, definition } = reading;
  const branch = branchOf(definition);
  const now = composition.clock.now();
  const standing = standingOf(reading, now);
  const failures = failuresOf(reading, kept);
  return {
    ...{ runId: row.id, name: row.name, ...conclusionOf(standing) },
    branch,
    head: branch === undefined ? undefined : published?.head,
    pushed: pushedOf(published),
    report: join(directory, 'runs', row.id, 'report.md'),
    // A finished run has no question to answer.
    questions: standing.conclusion === null ? questions.filter(({ recorded }) => recorded === null) : [],
    failures,
    rejections: rejectionsOf(reading.board, row.id),
    ...baselineOf(reading.board),
    next: nextCommandsOf(reading, standing, failures, now, place),
  };
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

function conclusionOf({
  conclusion,
  state,
  waitingFor,
}: RunStanding): Pick<RunEnd, 'outcome' | 'headline' | 'why' | 'exitCode'> {
  if (conclusion !== null) {
    const { outcome, headline, why, exitCode } = conclusion;
    return { outcome, headline, why, exitCode };
  }
  // An engine that ended without a word leaves a run that looks as if it prepared or ran.
  const outcome = state === 'preparing' || state === 'running' ? 'interrupted' : state;
  const why = waitingFor?.why ?? 'its engine is gone';
  return { outcome, headline: `${outcome.toUpperCase()}, ${why}`, why, exitCode: exitCodeOf(outcome) };
}
