import { join, resolve } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../model/errors.ts';
import type { Admission } from '../engine.ts';
import { writeAgainCommand } from '../model/folder-written.ts';
import type { Criterion } from '../model/objective.ts';
import { COORDINATE } from '../model/playbook-name.ts';
import { placedAt, type RunDefinition } from '../model/run.ts';
import type { ObjectiveSource } from '../preflight/read-input.ts';
import { criteriaIn } from '../preflight/new-session.ts';
import { leftIncomplete, playedSince, tasksByRun, type GivenSession } from '../preflight/subject.ts';
import { failuresOf } from '../read-model/explain-failure.ts';
import { findDefinition, findRun, type RunReading } from '../read-model/read-run.ts';
import { standingOf } from '../read-model/run-state.ts';
import { folderOf } from '../read-model/session-folders.ts';
import { predictBoard } from '../read-model/replay-plan.ts';
import { unfinishedOf } from '../read-model/unfinished.ts';
import { hasWork } from '../substrate/git/has-work.ts';
import { realPath } from '../substrate/files/real-path.ts';
import { findState } from '../substrate/files/state-place.ts';
import { refuseBusy } from '../substrate/ledger/workspace-lock.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { lookIn, openWorkspace, type OpenedWorkspace, type Place as Location } from './open-run.ts';

type Place = Pick<OpenedWorkspace, 'directory' | 'composition' | 'repository'>;

/** The folder of a run's session where the repository is now. */
function sessionOf({ repository: { root } }: Pick<Place, 'repository'>, definition: RunDefinition | undefined) {
  return definition === undefined ? undefined : folderOf(placedAt(definition, root));
}

/** The runs on one folder, the newest first. `path`: absolute, without links. */
function runsOn(place: Place, path: string) {
  const { directory, composition } = place;
  return (
    lookIn({ directory, composition }, (ledger, lockedBy) =>
      ledger
        .runs()
        .toReversed()
        .filter((row) => sessionOf(place, findDefinition(ledger, row)) === path)
        .flatMap(({ id }) => findRun(ledger, id, lockedBy, composition.playbooks) ?? []),
    ) ?? []
  );
}

/** Throws `workspace-busy` if a run on this folder is not over: two would write over each other. */
export function refuseSecondRun(place: Place, path: string): RunReading[] {
  const runs = runsOn(place, path);
  refuseUnfinished(runs, path, place.composition.clock.now());
  return runs;
}

/**
 * Called before a person reopens a finished run. Throws as `refuseSecondRun`, and `usage` if a newer run has played the
 * folder.
 */
export function refuseReopening(place: Place, { row, definition }: RunReading): void {
  const path = sessionOf(place, definition);
  if (path === undefined) return;
  const runs = runsOn(place, path);
  const others = runs.filter(({ row: { id } }) => id !== row.id);
  refuseUnfinished(others, path, place.composition.clock.now());
  const newer = playedSince(runs, row.id);
  if (newer === undefined) return;
  throw playedOver(newer, path, `${row.name} cannot be opened again`, toPlayOn(newer, path));
}

/**
 * Called before a run begins or continues. Throws as `refuseReopening`, but lets a run that only has to end do so
 * (`ends`).
 */
export function refuseWithOther(place: Place, runId: string, definition: RunDefinition): Admission {
  const path = sessionOf(place, definition);
  if (path === undefined) return 'plays';
  const runs = runsOn(place, path);
  refuseUnfinished(othersThan(runs, runId), path, place.composition.clock.now());
  const newer = playedSince(runs, runId);
  if (newer === undefined) return 'plays';
  const own = runs.find(({ row }) => row.id === runId);
  // Otherwise no command could end the run, and the folder would stay taken.
  if (own !== undefined && definition.folder !== undefined && isEnding(own)) return 'ends';
  const { name } = definition;
  throw playedOver(
    newer,
    path,
    `${name} cannot continue`,
    `Give it up with \`squad cancel ${name}\`. ${toPlayOn(newer, path)}`,
  );
}

/** A person gave the run up, or it had ended before its engine was gone. */
function isEnding({ board, pendingRequests }: RunReading): boolean {
  return predictBoard(board, pendingRequests).finished !== null;
}

/**
 * If two runs could continue, only the newer one may; otherwise each would block the other. `runs`: the newest first.
 */
export function othersThan<Run extends { readonly row: { readonly id: string }; readonly driven: boolean }>(
  runs: readonly Run[],
  runId: string,
): Run[] {
  const own = runs.findIndex(({ row }) => row.id === runId);
  return runs.filter((run, index) => index !== own && (own < 0 || index < own || run.driven));
}

function playedOver({ row }: RunReading, path: string, what: string, next: string): SquadError {
  return usageError(
    `${what}: the newer run ${row.name} has played ${plainLine(path, 300)}, and its work would be written over`,
    next,
  );
}

/** How a person continues a session that this run, the newest one, has played. */
function toPlayOn({ row, published }: RunReading, path: string): string {
  const { outcome, tasks } = published?.summary ?? {};
  return outcome === 'done' && tasks?.done === tasks?.all
    ? `Nothing is left to play: \`squad merge ${row.name}\` takes over its work, if you have not done that yet.`
    : `Play what is left with \`squad run --session=${shellWord(plainLine(path, Infinity))}\`.`;
}

function refuseUnfinished(runs: readonly RunReading[], path: string, now: number): void {
  for (const reading of runs) {
    const unfinished = unfinishedOf(reading, now);
    if (unfinished === undefined) continue;
    const { name, why } = unfinished;
    throw new SquadError({
      code: 'workspace-busy',
      message: `run ${name} ${reading.definition.playbook === COORDINATE ? 'makes' : 'plays'} ${plainLine(path, 300)} and is not over: ${plainLine(why, 200)}`,
      next: reading.driven
        ? `Watch it with \`squad watch ${name}\`, or end it with \`squad stop ${name}\`.`
        : `Continue it with \`squad resume ${name}\`, or give it up with \`squad cancel ${name}\`.`,
    });
  }
}

/** Throws `workspace-busy` if a run on the folder of this session is not over, or another process drives the workspace. */
export function refuseInUse(workspace: OpenedWorkspace, objective: ObjectiveSource): void {
  if (typeof objective === 'object' && 'session' in objective) refuseNamed(workspace, objective.session);
  refuseBusy(workspace.directory);
}

/** Throws `workspace-busy` if a run on the folder is not over. `folder`: as a person wrote it. */
export function refuseNamed(workspace: OpenedWorkspace, folder: string): void {
  const path = folder === '' ? undefined : realPath(resolve(workspace.host.workingDirectory, folder));
  if (path !== undefined) refuseSecondRun(workspace, path);
}

/** As `refuseNamed`, but passes outside a repository, where there is no run. */
export async function refusePlayed(place: Location, folder: string): Promise<void> {
  const workspace = await openWorkspace(place).catch(() => undefined);
  if (workspace !== undefined) refuseNamed(workspace, folder);
}

/**
 * Throws for a session that another run plays, and for one whose tasks an earlier run did on a branch that the new run would not begin
 * from: they count as done only together with their work.
 */
export async function refuseTaken(
  { host, composition }: Pick<OpenedWorkspace, 'host' | 'composition'>,
  repository: RepositoryReport,
  { session, path, folder }: GivenSession,
): Promise<void> {
  const { directory } = findState(host.stateDirectory, repository.commonDirectory);
  const runs = refuseSecondRun({ directory, composition, repository }, path);
  const incomplete = leftIncomplete(runs, session);
  if (incomplete !== undefined) throw notWritten(incomplete, path);
  for (const { reading, tasks } of tasksByRun(runs, session)) {
    const { head } = reading.board.branch;
    if (tasks.length === 0 || head === reading.workspace?.base) continue;
    if (await hasWork(composition.git, repository, { commit: repository.head, of: head })) continue;
    const isThere = repository.runBranches.includes(reading.row.name);
    const isNewest = playedSince(runs, reading.row.id) === undefined;
    throw workElsewhere(reading, { tasks, isThere, isNewest, folder });
  }
}

/**
 * The success criteria of the objective that squad made this session for: those of the newest run that made it in this folder, and not
 * another one. What their commands are, a person is asked as for any others.
 */
export function criteriaFor(
  { host, composition }: Pick<OpenedWorkspace, 'host' | 'composition'>,
  repository: RepositoryReport,
  { session, path }: GivenSession,
): readonly Criterion[] {
  const { directory } = findState(host.stateDirectory, repository.commonDirectory);
  const made = runsOn({ directory, composition, repository }, path).map((run) => criteriaIn(run.definition, session));
  return made.find(({ length }) => length > 0) ?? [];
}

function notWritten({ row, folderProblem }: RunReading, path: string): SquadError {
  return wrongEnvironment(
    `run ${row.name} has played ${plainLine(path, 300)}, but the files there are not complete: ${plainLine(folderProblem ?? '', 300)}`,
    `Write them with \`${writeAgainCommand(row.name)}\`; then the new run does only what is left.`,
  );
}

/** Ids that a message names; the rest are counted. */
const MOST_NAMED = 5;

function workElsewhere(
  reading: RunReading,
  {
    tasks,
    folder,
    ...about
  }: Pick<LeftWork, 'isThere' | 'isNewest'> & {
    readonly tasks: readonly string[];
    readonly folder: string;
  },
): SquadError {
  const { row, board } = reading;
  const shown = tasks.slice(0, MOST_NAMED).map((id) => plainLine(id, 60));
  const named = [...shown, ...(tasks.length > MOST_NAMED ? [`${tasks.length - MOST_NAMED} more`] : [])].join(', ');
  const state = plainLine(join(folder, 'team-session.json'), 300);
  const { conclusion } = standingOf(reading, 0);
  const hasFailed = conclusion !== null && conclusion.outcome !== 'done';
  const ways = waysOn({ name: row.name, head: board.branch.head, hasFailed, failed: toRetry(reading), ...about });
  return wrongEnvironment(
    `run ${row.name} did ${named}${hasFailed ? ' before it failed' : ''}, but the checked-out commit does not contain that work`,
    [...ways, `Or remove these tasks from completed_tasks in ${state}, and squad does them again.`].join(' '),
  );
}

/** A run whose work is not in the checked-out commit. */
export interface LeftWork {
  readonly name: string;
  /** The commit that it delivered last. */
  readonly head: string;
  /** Its branch is there. */
  readonly isThere: boolean;
  readonly hasFailed: boolean;
  /** A task of it that did not end well; undefined: there is none. */
  readonly failed: string | undefined;
  /** No newer run has done tasks of the session, so that it can be opened again. */
  readonly isNewest: boolean;
}

/** Steps for a person, the best first. */
export function waysOn({ name, head, isThere, hasFailed, failed, isNewest }: LeftWork): string[] {
  // Squad merges an unfinished result only if a person says so.
  const merge = `\`squad merge ${name}${hasFailed ? ' --unverified' : ''}\``;
  if (!isThere) return [`Merge it: \`git branch squad/${name} ${head}\`, then ${merge}.`];
  if (failed === undefined || !isNewest) return [`Merge it: ${merge}.`];
  return [`Try ${failed} again: \`squad retry ${failed} --run ${name}\`.`, `Or merge what is done: ${merge}.`];
}

/** A task that a retry begins with. Those that only wait for it follow by themselves. */
function toRetry(reading: RunReading): string | undefined {
  const failures = failuresOf({ ...reading, attempts: [] }, []);
  // A person's cancel of the run leaves tasks without an attempt: these can be retried, too.
  return (failures.find(({ next }) => next.length > 0) ?? failures[0])?.task;
}
