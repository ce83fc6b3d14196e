import { cleanedLines, cleanRun, withWorkspaces, type CleanedRun, type Leftovers } from '../clean-run.ts';
import type { CommandContext, Options } from '../command-context.ts';
import {
  lookIn,
  openWorkspace,
  requireRuns,
  runNamed,
  withLedger,
  type OpenedWorkspace,
} from '../../squad/open-workspace.ts';
import { goneLines } from './state.ts';
import { measureDisk, noteDisk } from '../../squad/disk-use.ts';
import { readKeep } from '../../squad/keep.ts';
import { printResult } from '../output.ts';
import { cleanDue, tidiedLines, tidyHere, type Tidying } from '../tidying.ts';
import { plainLine } from '../../text/plain-text.ts';
import { counted } from '../../text/counted.ts';
import { byteCount } from '../../text/byte-count.ts';
import { freedBytes } from '../../model/disk-use.ts';
import { usageError } from '../../model/errors.ts';
import { predictBoard } from '../../view/replay-plan.ts';
import { findRun, rowOf } from '../../view/read-run.ts';
import { deleteFolder } from '../../substrate/system/files/remove-tree.ts';
import { findLeftScratch } from '../../substrate/system/process/left-scratch.ts';
import type { Ledger, RunRow } from '../../substrate/ports/ledger.ts';

interface Cleaned extends Tidying {
  readonly runs: readonly CleanedRun[];
  /** Lines about branches in other repositories. */
  readonly elsewhere: readonly string[];
  readonly skipped: readonly string[];
  readonly scratch: readonly string[];
  /** Folders with files of the repository that were kept for the next tasks. */
  readonly spares: number;
  /** Bytes on the disk that are free again; null: nothing was removed, only looked at. */
  readonly freed: number | null;
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
  if (options.due === true) return cleanDue(context, name, options);
  const workspace = await openWorkspace(context);
  const { directory } = workspace;
  // The lock would create files. Without a ledger there is nothing to clean.
  requireRuns(workspace);
  const { dryRun = false, turns = false, refs = false } = options;
  const keep = await readKeep(workspace.repository.root, host);
  const before = dryRun ? undefined : await measureDisk(workspace);
  const found = await withWorkspaces(host, workspace, async (workspaces) => {
    const plan = await withLedger(workspace, 'read', (ledger) =>
      planCleaning(workspace, ledger, { name, all: options.all === true }),
    );
    const runs: CleanedRun[] = [];
    const elsewhere: string[] = [];
    for (const run of plan.over) {
      runs.push(await cleanRun(workspaces, directory, run, { dryRun, turns, refs }));
      if (refs && !dryRun) elsewhere.push(...(await cleanElsewhere(workspace, run)));
    }
    const stale = await findLeftScratch(host.stateDirectory);
    const scratch = await remove(stale, dryRun);
    const spares = await workspaces.dropSpares(dryRun);
    const all = name === undefined ? await tidyHere(workspace, keep, dryRun) : NOTHING;
    return { dryRun, runs, elsewhere, skipped: plan.skipped, scratch, spares, ...all };
  });
  const freed = before === undefined ? null : freedBytes(before, await noteDisk(workspace));
  const cleaned = { ...found, freed };
  const gone = await goneLines(host.stateDirectory, directory);
  printResult(output, options, { type: 'clean', ...cleaned }, [...renderCleaned(cleaned), ...gone]);
}

/** The branches of a run that another branch of its repositories has. */
async function cleanElsewhere(workspace: OpenedWorkspace, { id }: Leftovers): Promise<string[]> {
  const found = lookIn(workspace, (ledger) => findRun(ledger, id, null));
  if (found?.definition.repositories === undefined) return [];
  const { row, definition, published } = found;
  const { dropElsewhere } = await import('../several-branches.ts');
  return dropElsewhere(workspace.composition.git, { name: row.name, definition, published }, 'merged');
}

const NOTHING = { tidied: [], backups: [] };

async function remove(paths: readonly string[], dryRun: boolean): Promise<readonly string[]> {
  if (dryRun) return paths;
  const problems = await Promise.all(paths.map(async (path) => ({ path, problem: await deleteFolder(path) })));
  return problems.filter(({ problem }) => problem === undefined).map(({ path }) => path);
}

/** The named or newest run must be over. With --all, unfinished runs are skipped and listed. */
function planCleaning(
  workspace: OpenedWorkspace,
  ledger: Ledger,
  { name, all }: { readonly name: string | undefined; readonly all: boolean },
) {
  const named = name === undefined ? undefined : (runNamed(workspace, ledger, name)?.id ?? name);
  const rows = all ? ledger.runs() : [rowOf(ledger, named).row];
  const over = rows.filter((row) => isOver(ledger, row));
  const skipped = rows.filter((row) => !over.includes(row)).map((row) => row.name);
  if (!all && skipped.length > 0) {
    const names = skipped.join();
    throw usageError(
      `${names} is not over and still needs its files`,
      `See \`squad status ${names}\`, or continue with \`squad resume ${names}\`.`,
    );
  }
  return { over: over.map((row) => leftoversOf(ledger, row)), skipped };
}

function leftoversOf(ledger: Ledger, { id, name }: RunRow): Leftovers {
  return { run: name, id, attempts: ledger.attempts({ runId: id }).map((attempt) => attempt.id) };
}

/** A run is over once it is published and not reopened. */
function isOver(ledger: Ledger, { id }: RunRow): boolean {
  const run = findRun(ledger, id, null);
  if (run?.published === undefined) return false;
  return predictBoard(run.board, run.pendingRequests).finished === run.board.finished;
}

/** One line for each thing that was removed, would be removed, or stays, with the reason. */
function renderCleaned({
  dryRun,
  runs,
  elsewhere,
  skipped,
  scratch,
  spares,
  tidied,
  backups,
  freed,
}: Cleaned): string[] {
  const verb = dryRun ? 'would remove' : 'removed';
  const lines = [
    ...runs.flatMap((run) => cleanedLines(run, verb)),
    ...elsewhere,
    ...scratch.map((path) => `${verb}  ${plainLine(path)}  (left by a dead engine)`),
    ...(spares === 0 ? [] : [`${verb}  ${counted(spares, 'folder')} kept for the next tasks`]),
    ...tidiedLines({ dryRun, tidied, backups }),
    ...skipped.map((run) => `skipped  ${run}: it is not over`),
  ];
  if (lines.length === 0) return ['nothing to clean'];
  return freed === null || freed === 0 ? lines : [...lines, `free again  ${byteCount(freed)}`];
}
