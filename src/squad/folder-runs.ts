import type { Admission, RunToAdmit } from '../engine/engine.ts';
import { usageError, type SquadError } from '../model/errors.ts';
import { OF_A_TEAM } from '../model/playbook-name.ts';
import { placedAt, type RunDefinition } from '../model/run.ts';
import { sourceOf, type ObjectiveSource, type Submitted } from './sources/source-of.ts';
import type { Source } from './preflight/source.ts';
import { folderOf } from '../view/run-folders.ts';
import { findDefinition, findRun, type RunReading } from '../view/read-run.ts';
import { refuseReopening, refuseWithOther, type FolderRuns } from './sources/session/session-runs.ts';
import { hasWork } from '../substrate/git/has-work.ts';
import { otherDriver, refuseBusy } from '../substrate/ledger/workspace-lock.ts';
import { loadEngine } from './load-engine.ts';
import type { TrustOption } from './new-run.ts';
import { openRun } from './open-run.ts';
import { lookIn, openWorkspace, type OpenedWorkspace, type Place } from './open-workspace.ts';
import { agreeToRun } from './run-consent.ts';

type Opened = Pick<OpenedWorkspace, 'directory' | 'composition'> & {
  readonly repository: Pick<OpenedWorkspace['repository'], 'root' | 'commonDirectory'>;
};

/** Makes a source of what a person named. */
export function sourceIn(workspace: OpenedWorkspace, named: Submitted): Source {
  return sourceOf(named, workspace.host.workingDirectory, folderRuns(workspace));
}

/** Throws `workspace-busy` if a run with this subject is not over, or another process drives the workspace. */
export function refuseInUse({ directory }: Pick<OpenedWorkspace, 'directory'>, source: Source): void {
  source.admit?.();
  if (otherDriver(directory) !== undefined) refuseBusy(directory);
}

/** Throws `workspace-busy` if a run with this subject is not over. Outside a repository there is no run, so it does not throw. */
export async function refusePlayed(place: Place, named: ObjectiveSource): Promise<void> {
  const workspace = await openWorkspace(place).catch(() => undefined);
  if (workspace !== undefined) sourceIn(workspace, named).admit?.();
}

/** Throws for a run that must not begin or go on, because another one has its folder. */
export function admitRun(workspace: Opened, run: Pick<RunToAdmit, 'id' | 'definition'>): Admission {
  const path = folderHere(workspace, run.definition);
  return path === undefined ? 'plays' : refuseWithOther(folderRuns(workspace), path, run);
}

/** Throws for a run that is over, and that a person opens again, if another one has its folder or has played it since, or it is a team's. */
export function refuseOpenAgain(workspace: Opened, reading: RunReading): void {
  if (OF_A_TEAM.has(reading.definition.playbook)) throw closedInTeam(reading.row.name);
  const path = folderHere(workspace, reading.definition);
  if (path !== undefined) refuseReopening(folderRuns(workspace), path, reading);
}

function closedInTeam(name: string): SquadError {
  return usageError(
    `${name} is a run of the team, and over: what it did not do is in the backlog again`,
    'See `squad backlog`; `squad sprint start "…"` starts the next sprint.',
  );
}

/**
 * Writes what is not complete of the folders of a run that is over, and returns these folders. Throws `usage` if a newer run has played
 * its own, and `wrong-environment` if a file cannot be written.
 */
export async function writeFolders(
  place: Place,
  runId: string,
  { warn, trust }: TrustOption & { readonly warn: (text: string) => void },
): Promise<string[]> {
  const run = await openRun(place, runId);
  await agreeToRun(run, runId, trust);
  const { composition, host, repository } = run;
  const { writeFoldersAgain } = await loadEngine();
  const refuse = (now: RunReading): void => refuseOpenAgain(run, now);
  return writeFoldersAgain({ ...composition, host, warn, refuse }, repository.root, runId);
}

export function folderRuns(workspace: Opened): FolderRuns {
  const { directory, composition, repository } = workspace;
  return {
    on: (path) =>
      lookIn({ directory, composition }, (ledger, lockedBy) =>
        ledger
          .runs()
          .toReversed()
          .filter((row) => folderHere(workspace, findDefinition(ledger, row)) === path)
          .flatMap(({ id }) => findRun(ledger, id, lockedBy, composition.playbooks) ?? []),
      ) ?? [],
    now: () => composition.clock.now(),
    hasWork: async (of, commit) => hasWork(composition.git, repository, { commit, of }),
  };
}

/** The folder of a run, where the repository is now. */
function folderHere({ repository: { root } }: Opened, definition: RunDefinition | undefined): string | undefined {
  return definition && folderOf(placedAt(definition, root));
}
