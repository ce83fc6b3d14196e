import { join } from 'node:path';
import type { RunEnd, RunningRun } from '../read-model/running-run.ts';
import { engineTime } from '../model/spending.ts';
import { failuresOf, type KeptRef } from '../read-model/explain-failure.ts';
import type { RunHistory } from '../read-model/read-run.ts';
import { standingOf } from '../read-model/run-state.ts';
import { nextCommandsOf } from '../read-model/status.ts';
import { progressOf } from '../read-model/usage-count.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import type { OpenedWorkspace } from './open-run.ts';

/** The handle of a run that is over: `done` gives the end that the run had, and there is nothing to stop. */
export async function endedRun(workspace: OpenedWorkspace, reading: RunHistory): Promise<RunningRun> {
  const { repository, composition } = workspace;
  const { row, board, totals, segments } = reading;
  const kept = await listKeptWork(composition.git, repository.root, row.name);
  return {
    runId: row.id,
    name: row.name,
    done: Promise.resolve(endOf(workspace, reading, kept)),
    progress: () => progressOf(board, totals, engineTime(segments)),
    drain: () => undefined,
    cancel: () => Promise.resolve(),
    kill: () => Promise.resolve(),
  };
}

/** As the engine reported it, but for what people have done with its refs since. */
function endOf({ directory, composition }: OpenedWorkspace, reading: RunHistory, kept: readonly KeptRef[]): RunEnd {
  const { row, published } = reading;
  const standing = standingOf(reading, composition.clock.now());
  const { outcome, headline, why, exitCode } = standing.conclusion ?? noConclusion(row.name);
  const failures = failuresOf(reading, kept);
  return {
    ...{ runId: row.id, name: row.name, outcome, headline, why, exitCode },
    branch: `squad/${row.name}`,
    head: published?.head,
    report: join(directory, 'runs', row.id, 'report.md'),
    questions: [],
    failures,
    next: nextCommandsOf(reading, standing, failures),
  };
}

function noConclusion(name: string): never {
  throw new Error(`${name} is over and has no conclusion`);
}
