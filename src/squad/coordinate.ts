import { resolve } from 'node:path';
import { usageError } from '../model/errors.ts';
import { objectiveIn, playbookOfNewSession, readBegun, refuseTooLong } from '../preflight/new-session.ts';
import type { Objective } from '../model/objective.ts';
import { objectiveWithoutSecrets } from '../preflight/secrets.ts';
import { readObjective, type WrittenObjective } from '../preflight/read-input.ts';
import { playOptions, type PlayGiven, type PlayOptions } from '../read-model/play-command.ts';
import type { RunningRun } from '../read-model/running-run.ts';
import { refuseNamed, refuseSecondRun } from './session-runs.ts';
import type { NewRunOptions } from './new-run.ts';
import { openWorkspace, type Place } from './open-run.ts';
import { startNew, type DriveOptions } from './run.ts';
import { placeSession, refuseFilled, refuseReadOnly } from './session-place.ts';

interface CoordinateRequest extends NewRunOptions, DriveOptions {
  /** The folder of the session; absent: a new one in the repository. */
  readonly into?: string | undefined;
  /** Keeps what is valid in the folder, and makes what is missing. */
  readonly resume?: boolean | undefined;
}

interface Coordinated {
  /** undefined: nothing was missing, so there is no run. */
  readonly running: RunningRun | undefined;
  /** The session's folder, as people name it. */
  readonly folder: string;
  /** That folder as an absolute path. */
  readonly path: string;
  /** How it is to be played. */
  readonly passedOn: PlayOptions;
  /** The objective; undefined: nothing was missing in the folder, and no objective was named. */
  readonly madeFor: Objective | undefined;
  /** Files of it that are not valid and are made anew. */
  readonly invalid: readonly string[];
}

/** Starts a run whose planner designs a session, and which makes its folder. Checks the folder before anything starts. */
export async function coordinate(
  place: Place,
  objective: WrittenObjective | undefined,
  { into, resume = false, ...options }: CoordinateRequest,
): Promise<Coordinated> {
  if (into === '') {
    throw usageError('--into names no folder', 'Name one: `squad coordinate objective.md --into FOLDER`.');
  }
  const workspace = await openWorkspace(place);
  const { workingDirectory } = workspace.host;
  if (resume && into === undefined) {
    throw usageError('--resume needs the folder of the session', 'Name it: `squad coordinate --into FOLDER --resume`.');
  }
  // Before the folder is judged: while a run plays it, nothing can be added, and no other run can begin.
  if (resume && into !== undefined) refuseNamed(workspace, into);
  const begun = resume && into !== undefined ? await readBegun(into, workingDirectory) : undefined;
  if (resume && into !== undefined && begun === undefined) {
    const madeFor = objective === undefined ? undefined : await readObjective(objective, workingDirectory);
    const path = resolve(workingDirectory, into);
    return {
      running: undefined,
      folder: into,
      path,
      passedOn: playOptions(givenTo(options, madeFor)),
      madeFor,
      invalid: [],
    };
  }
  const source = objective ?? objectiveIn(begun);
  const madeFor = await readObjective(source, workingDirectory);
  refuseTooLong(madeFor, begun);
  const { composition } = workspace;
  const redactor = composition.redactor([]);
  const now = composition.clock.now();
  const title = redactor.text(madeFor.title);
  const found = await placeSession({ root: workspace.repository.root, workingDirectory, title, now, into });
  await (begun === undefined ? refuseFilled(found, workingDirectory) : refuseReadOnly(found));
  refuseSecondRun(workspace, found.folder);
  const { named, ...at } = found;
  const { play, playWithout } = playOptions(givenTo(options, madeFor));
  const passedOn = { play: play.map((word) => redactor.text(word)), playWithout: [...playWithout] };
  const { criteria } = objectiveWithoutSecrets(madeFor, redactor);
  const alone = playbookOfNewSession({ ...at, ...passedOn, criteria, shown: named }, begun, now, redactor);
  const running = await startNew(workspace, source, { ...options, plan: 'auto', alone });
  return { running, folder: found.shown, path: found.folder, passedOn, madeFor, invalid: begun?.invalid ?? [] };
}

/** Options that `--run` passes on, as far as a command has options for them. */
function givenTo({ runtime, allowFullAccess, limits }: NewRunOptions, madeFor: Objective | undefined): PlayGiven {
  const { frontMatter, deadline, priority } = madeFor ?? {};
  return {
    ...{ runtime, allowFullAccess, deadline, priority, name: frontMatter?.name },
    limits: { ...frontMatter?.limits, ...limits },
  };
}
