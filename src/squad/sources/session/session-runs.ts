import { join, resolve } from 'node:path';
import { SquadError, usageError, wrongEnvironment } from '../../../model/errors.ts';
import { writeAgainCommand } from '../../../model/folder-written.ts';
import type { Board } from '../../../model/plan/board.ts';
import { COORDINATE, FOLDER, PLAYED } from '../../../model/playbook-name.ts';
import type { RunDefinition } from '../../../model/run.ts';
import { frozenSession } from '../../../playbooks/session/index.ts';
import type { Session } from '../../../playbooks/session/session.ts';
import { workOf } from '../../../playbooks/session/session-list.ts';
import { failuresOf } from '../../../view/explain-failure.ts';
import { incomplete, type RunReading } from '../../../view/read-run.ts';
import { standingOf } from '../../../view/run-state.ts';
import { predictBoard } from '../../../view/replay-plan.ts';
import { unfinishedOf } from '../../../view/unfinished.ts';
import { realPath } from '../../../substrate/system/files/real-path.ts';
import type { RepositoryReport } from '../../../substrate/ports/workspaces.ts';
import { plainLine } from '../../../text/plain-text.ts';
import { shellWord } from '../../../text/shell-word.ts';

/** The runs that have a folder of a person's, which they play or make. */
export interface FolderRuns {
  /** Those on this one, the newest first. `path`: absolute, without links. */
  on(path: string): RunReading[];
  /** Epoch ms. */
  now(): number;
  /** Whether the commit `of` is in another one. */
  hasWork(of: string, commit: string): Promise<boolean>;
}

/** Throws `workspace-busy` if a run on this folder is not over: two would write over each other. `path`: absolute, without links. */
export function refuseSecondRun(runs: FolderRuns, path: string): RunReading[] {
  const found = runs.on(path);
  refuseUnfinished(found, path, runs.now());
  return found;
}

/** Throws as `refuseSecondRun` does. `folder`: as a person wrote it. */
export function refuseNamed(runs: FolderRuns, folder: string, workingDirectory: string): void {
  const path = folder === '' ? undefined : realPath(resolve(workingDirectory, folder));
  if (path !== undefined) refuseSecondRun(runs, path);
}

/** Throws so for a run that is over and that a person opens again, and `usage` if a newer run has played the folder. */
export function refuseReopening(runs: FolderRuns, path: string, { row: { id, name } }: Pick<RunReading, 'row'>): void {
  const found = runs.on(path);
  const others = found.filter(({ row }) => row.id !== id);
  refuseUnfinished(others, path, runs.now());
  const newer = playedSince(found, id);
  if (newer !== undefined) throw playedOver(newer, path, `${name} cannot be opened again`);
}

/** Throws so for a run that is about to begin or to continue. One that only has to end may, and then leaves the folder as it is. */
export function refuseWithOther(
  runs: FolderRuns,
  path: string,
  { id, definition: { name, folder } }: { readonly id: string; readonly definition: RunDefinition },
): 'plays' | 'ends' {
  const found = runs.on(path);
  refuseUnfinished(othersThan(found, id), path, runs.now());
  const newer = playedSince(found, id);
  if (newer === undefined) return 'plays';
  const own = found.find(({ row }) => row.id === id);
  // Otherwise no command could end the run, and the folder would stay taken.
  if (own !== undefined && folder !== undefined && isEnding(own)) return 'ends';
  throw playedOver(newer, path, `${name} cannot continue`, `Give it up with \`squad cancel ${name}\`. `);
}

/** A person gave the run up, or it had ended before its engine was gone. */
function isEnding({ board, pendingRequests }: RunReading): boolean {
  return predictBoard(board, pendingRequests).finished !== null;
}

/** If two runs could both continue, the newer one does: otherwise neither could. `runs`: the newest first. */
export function othersThan<Run extends { readonly row: { readonly id: string }; readonly driven: boolean }>(
  runs: readonly Run[],
  runId: string,
): Run[] {
  const own = runs.findIndex(({ row }) => row.id === runId);
  return runs.filter((run, index) => index !== own && (own < 0 || index < own || run.driven));
}

/** A run, with the records of the tasks of its folder. */
type Played = { readonly board: Pick<Board, 'records'> };

/** By the slugs of the tasks. */
function playedBy({ board }: Played): string[] {
  return [...(board.records.get(PLAYED)?.keys() ?? [])];
}

/**
 * The tasks whose work is on the branch of each of these runs: those that it did and that count as done now, and whose role may change
 * files. `runs`: the newest first.
 */
export function tasksByRun<Run extends Played>(runs: readonly Run[], { completed, tasks, roles }: Session) {
  const reading = new Set(roles.filter((role) => workOf(role) === 'reads').map(({ slug }) => slug));
  const left = new Set(completed);
  return runs.map((run) => {
    // Work that a newer run did again is on that one's branch.
    const own = new Set(playedBy(run).filter((slug) => left.delete(slug)));
    const done = tasks.filter(({ slug, role }) => own.has(slug) && !reading.has(role));
    return { reading: run, tasks: done.map(({ id }) => id) };
  });
}

/**
 * The newest run that did tasks after this one began. The folder holds what they left, and this run, which read the folder before,
 * would write it anew without that. `runs`: the newest first.
 */
export function playedSince<Run extends Played & { readonly row: { readonly id: string } }>(
  runs: readonly Run[],
  runId: string,
): Run | undefined {
  const own = runs.findIndex(({ row }) => row.id === runId);
  return runs.slice(0, Math.max(own, 0)).find((run) => playedBy(run).length > 0);
}

/** `run`: the newest one. `before`: what helps first. */
function playedOver({ row, published }: RunReading, path: string, what: string, before = ''): SquadError {
  const { outcome, tasks } = published?.summary ?? {};
  const next =
    outcome === 'done' && tasks?.done === tasks?.all
      ? `Nothing is left to play: \`squad merge ${row.name}\` takes over its work, if you have not done that yet.`
      : `Play what is left with \`squad run --session=${shellWord(plainLine(path, Infinity))}\`.`;
  return usageError(
    `${what}: the newer run ${row.name} has played ${plainLine(path, 300)}, and its work would be written over`,
    `${before}${next}`,
  );
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

/**
 * Throws for a session that another run plays, and for one whose tasks an earlier run did on a branch that the new run would not begin
 * from: they count as done only together with their work.
 */
export async function refuseTaken(
  folderRuns: FolderRuns,
  { head: checkedOut, runBranches }: Pick<RepositoryReport, 'head' | 'runBranches'>,
  { session, path, folder }: { readonly session: Session; readonly path: string; readonly folder: string },
): Promise<void> {
  const runs = refuseSecondRun(folderRuns, path);
  const [newest] = runs;
  // A new run would do again what is missing there. Of another session in the same place it says nothing.
  const isLeft = newest !== undefined && frozenSession(newest.definition.options)?.id === session.id;
  const missing = isLeft ? incomplete(newest).find(({ sink }) => sink === FOLDER) : undefined;
  if (isLeft && missing !== undefined) throw notWritten(newest.row.name, path, missing.problem ?? '');
  for (const { reading, tasks } of tasksByRun(runs, session)) {
    const { head } = reading.board.branch;
    if (tasks.length === 0 || head === reading.workspace?.base) continue;
    if (await folderRuns.hasWork(head, checkedOut)) continue;
    const isThere = runBranches.includes(reading.row.name);
    const isNewest = playedSince(runs, reading.row.id) === undefined;
    throw workElsewhere(reading, tasks, folder, { isThere, isNewest });
  }
}

function notWritten(run: string, path: string, problem: string): SquadError {
  return wrongEnvironment(
    `run ${run} has played ${plainLine(path, 300)}, but the files there are not complete: ${plainLine(problem, 300)}`,
    `Write them with \`${writeAgainCommand(run)}\`; then the new run does only what is left.`,
  );
}

/** Ids that a message names; the rest are counted. */
const MOST_NAMED = 5;

function workElsewhere(
  reading: RunReading,
  tasks: readonly string[],
  folder: string,
  about: Pick<LeftWork, 'isThere' | 'isNewest'>,
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

/** Ways in which a person can solve it, the best first. */
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
