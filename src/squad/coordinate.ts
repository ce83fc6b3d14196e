import { usageError } from '../model/errors.ts';
import type { WrittenObjective } from './preflight/read-input.ts';
import type { RunningRun } from '../view/running-run.ts';
import { newSession, type NewSession, type NewSessionRequest } from './sources/session/new-session.ts';
import { folderRuns } from './folder-runs.ts';
import type { NewRunOptions } from './new-run.ts';
import { openWorkspace, type Place } from './open-workspace.ts';
import { startNew, type DriveOptions } from './run.ts';

interface CoordinateRequest extends NewRunOptions, DriveOptions, Pick<NewSessionRequest, 'into' | 'resume'> {}

interface Coordinated extends Omit<NewSession, 'source'> {
  /** undefined: nothing was missing, so there is no run. */
  readonly running: RunningRun | undefined;
}

/** Starts a run whose planner designs a session, and which makes its folder. Checks the folder before anything starts. */
export async function coordinate(
  place: Place,
  objective: WrittenObjective | undefined,
  asked: CoordinateRequest,
): Promise<Coordinated> {
  const { into, resume: _resume, ...options } = asked;
  if (into === '') {
    throw usageError('--into names no folder', 'Name one: `squad coordinate objective.md --into FOLDER`.');
  }
  const workspace = await openWorkspace(place);
  const { host, composition, repository } = workspace;
  const ports = { root: repository.root, workingDirectory: host.workingDirectory, redactor: composition.redactor([]) };
  const { source, ...made } = await newSession({ ...ports, runs: folderRuns(workspace) }, objective, asked);
  const running = source && (await startNew(workspace, source, { ...options, plan: 'auto' }));
  return { running, ...made };
}
