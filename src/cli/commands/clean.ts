import { join } from 'node:path';
import { cleanRun, type CleanedRun, type CleanedFolder, type Leftovers } from '../clean-run.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { openWorkspace, readLedger } from '../../squad/open-run.ts';
import { goneLines } from './state.ts';
import { withWorkspaces } from '../open-workspaces.ts';
import { printResult } from '../output.ts';
import { plainLine } from '../../text/plain-text.ts';
import { usageError } from '../../model/errors.ts';
import { predictBoard } from '../../view/replay-plan.ts';
import { findRun, readRun } from '../../view/read-run.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { runFolder } from '../../substrate/system/files/run-files.ts';
import { findLeftScratch } from '../../substrate/system/process/left-scratch.ts';
import type { Ledger, RunRow } from '../../substrate/ports/ledger.ts';

interface Cleaned {
  readonly dryRun: boolean;
  readonly runs: readonly CleanedRun[];
  readonly skipped: readonly string[];
  readonly scratch: readonly string[];
}

/** Works under the workspace's lock: refused with 75 while an engine is running. */
export async function clean(
  context: CommandContext,
  name: string | undefined,
  options: Options<'clean'>,
): Promise<void> {
  if (name !== undefined && options.all === true) {
    throw usageError('a run and --all cannot be given together', 'Give one of them.');
  }
  const { host, output } = context;
  const workspace = await openWorkspace(context);
  const { directory } = workspace;
  // The lock would create files. Without a ledger there is nothing to clean.
  readLedger(workspace, () => undefined);
  const { dryRun = false, turns = false, refs = false } = options;
  const cleaned = await withWorkspaces(host, workspace, async (workspaces) => {
    const plan = readLedger(workspace, (ledger) => planCleaning(ledger, directory, name, options.all === true));
    const runs: CleanedRun[] = [];
    for (const run of plan.over) {
      runs.push(await cleanRun(workspaces, join(directory, 'turns'), run, { dryRun, turns, refs }));
    }
    const stale = await findLeftScratch(host.stateDirectory);
    const scratch = await remove(stale, dryRun);
    return { dryRun, runs, skipped: plan.skipped, scratch };
  });
  const gone = await goneLines(host.stateDirectory);
  printResult(output, options, { type: 'clean', ...cleaned }, [...renderCleaned(cleaned), ...gone]);
}

async function remove(paths: readonly string[], dryRun: boolean): Promise<readonly string[]> {
  if (dryRun) return paths;
  const problems = await Promise.all(paths.map(async (path) => ({ path, problem: await deleteFolder(path) })));
  return problems.filter(({ problem }) => problem === undefined).map(({ path }) => path);
}

/** The named or newest run must be over. With --all, unfinished runs are skipped and listed. */
function planCleaning(ledger: Ledger, directory: string, name: string | undefined, all: boolean) {
  const rows = all ? ledger.runs() : [name === undefined ? readRun(ledger, undefined, null).row : rowOf(ledger, name)];
  const over = rows.filter((row) => isOver(ledger, row));
  const skipped = rows.filter((row) => !over.includes(row)).map((row) => row.name);
  if (!all && skipped.length > 0) {
    const names = skipped.join();
    throw usageError(
      `${names} is not over and still needs its files`,
      `See \`squad status ${names}\`, or continue with \`squad resume ${names}\`.`,
    );
  }
  return { over: over.map((row) => leftoversOf(ledger, directory, row)), skipped };
}

function rowOf(ledger: Ledger, name: string): RunRow {
  // `readRun` throws the usual error for an unknown run.
  return ledger.run(name) ?? readRun(ledger, name, null).row;
}

function leftoversOf(ledger: Ledger, directory: string, { id, name }: RunRow): Leftovers {
  const attempts = ledger.attempts({ runId: id }).map((attempt) => attempt.id);
  return { run: name, id, attempts, folder: runFolder(directory, id) };
}

/** A run is over once it is published and not reopened. */
function isOver(ledger: Ledger, { id }: RunRow): boolean {
  const run = findRun(ledger, id, null);
  if (run?.published === undefined) return false;
  return predictBoard(run.board, run.pendingRequests).finished === run.board.finished;
}

/** One line for each thing that was removed, would be removed, or stays, with the reason. */
function renderCleaned({ dryRun, runs, skipped, scratch }: Cleaned): string[] {
  const verb = dryRun ? 'would remove' : 'removed';
  const lines = [
    ...runs.flatMap((run) => runLines(run, verb)),
    ...scratch.map((path) => `${verb}  ${plainLine(path)}  (left by a dead engine)`),
    ...skipped.map((run) => `skipped  ${run}: it is not over`),
  ];
  return lines.length === 0 ? ['nothing to clean'] : lines;
}

function runLines({ run, worktrees, turns, files, refs, left }: CleanedRun, verb: string): string[] {
  return [
    ...worktrees.map((folder) => folderLine(folder, verb)),
    ...(turns === 0 ? [] : [`${verb}  ${turns} turn folder${turns === 1 ? '' : 's'} of ${run}`]),
    ...files.map((path) => `${verb}  ${plainLine(path)}`),
    ...left.map((name) => `kept  ${plainLine(name)} in the folder of ${run}: squad did not create it`),
    ...(refs === null ? [] : refLines(run, refs)),
  ];
}

function folderLine({ path, action, rescued, why, side = [], missed }: CleanedFolder, verb: string): string {
  if (action === 'kept') return `kept  ${plainLine(path)}  (${plainLine(why ?? '', 300)})`;
  const kept = rescued === undefined ? '' : `  (uncommitted work: ${plainLine(rescued)})`;
  const others =
    side.length === 0 ? '' : `  (other branches and stashes: ${side.map((ref) => plainLine(ref)).join(' ')})`;
  const lost = missed === undefined ? '' : `  (not kept: ${plainLine(missed, 200)})`;
  return `${verb}  ${plainLine(path)}${kept}${others}${lost}`;
}

function refLines(run: string, { attempts, branch, foreign }: NonNullable<CleanedRun['refs']>): string[] {
  const refs = [
    ...(attempts === 0 ? [] : [`removed  ${attempts} ref${attempts === 1 ? '' : 's'} below refs/squad/${run}`]),
    ...foreign.map(
      (ref) => `kept  ${ref}: the run did not make what it has. To have it as a branch: git branch ${run}-kept ${ref}`,
    ),
  ];
  switch (branch.type) {
    case 'absent':
      return refs;
    case 'deleted':
      return [...refs, `removed  branch squad/${run}, which was at ${branch.head}`];
    case 'kept':
      return branch.why === 'unmerged'
        ? [
            ...refs,
            `kept  branch squad/${run}: no other branch has its work. To keep it under another name: git branch -m squad/${run} ${run}-kept`,
          ]
        : [
            ...refs,
            `kept  branch squad/${run}: ${branch.why === 'other-run' ? 'another run has this name' : 'it is checked out'}`,
          ];
    default:
      return branch satisfies never;
  }
}
