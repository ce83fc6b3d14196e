import { existsSync } from 'node:fs';
import { readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import type { Keep, KeptRef } from '../model/keep.ts';
import { wrongEnvironment } from '../model/errors.ts';
import { canBeDue, decideTidying, type KeptRun, type Tidying, type TidyingPlan } from '../rules/tidying.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { packFile, unpackedOutput } from '../substrate/system/files/packed-output.ts';
import { deleteFolder } from '../substrate/system/files/remove-tree.ts';
import {
  DROPPED,
  outputDroppedAt,
  projectedFiles,
  runFolder,
  writeRunFile,
} from '../substrate/system/files/run-files.ts';
import { treeSize } from '../substrate/system/files/tree-size.ts';
import { endOfRun } from '../view/ended-view.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';

/** Everything that a tidying removes, or would remove, of one run. */
export interface Tidied {
  readonly run: string;
  readonly id: string;
  /** Folders of turns and checks, with their bytes. */
  readonly output: number;
  readonly bytes: number;
  /** Files that are compressed. */
  readonly packed: number;
  /** Names of deleted refs, and the branch with the commit that it was at. */
  readonly refs: readonly string[];
  readonly branches: readonly { readonly ref: string; readonly at: string }[];
  /** The folder of its report and other files. */
  readonly files: string | null;
}

interface Look extends TidyingPlan {
  readonly runs: readonly KeptRun[];
}

type Workspace = OpenedWorkspace<Machine>;

/** Calls each part of the work, which leaves everything whole. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Finds what is due by `keep` in a repository. Changes nothing, and needs no lock. `git`: look at refs even if none can be due. */
export async function lookForTidying(workspace: Workspace, keep: Keep, git = false): Promise<Look> {
  const { directory, composition } = workspace;
  const now = composition.clock.now();
  const turns = new Set(await readdir(join(directory, 'turns')).catch(() => []));
  const hasFiles = (id: string): boolean => keep.runs !== null && existsSync(join(runFolder(directory, id), LAST_FILE));
  const known = lookIn(workspace, (ledger) =>
    ledger.runs().map((row) => ({ ...keptRun(ledger, row, turns), hasFiles: hasFiles(row.id) })),
  );
  const runs = known ?? [];
  const ended = runs.flatMap(({ endedAt }) => (endedAt === null ? [] : [endedAt]));
  const mayBeDue = ended.some((at) => keep.refsMs !== null && at + keep.refsMs <= now);
  if (!git && !mayBeDue && keep.branches === 'all' && keep.runs === null)
    return { runs, ...decideTidying(runs, keep, now) };
  const ids = new Map(runs.map(({ name, id }) => [name, id]));
  // `squad status` loads it only if a ref may be due.
  const { findRunRefs } = await import('../substrate/git/squad-refs.ts');
  const refs = await findRunRefs(composition.git, workspace.repository, ids);
  const whole = runs.map((run) => ({ ...run, refs: refs.get(run.name) }));
  return { runs: whole, ...decideTidying(whole, keep, now) };
}

function keptRun(ledger: Ledger, row: RunRow, turns: ReadonlySet<string>): Omit<KeptRun, 'hasFiles'> {
  const { id, name } = row;
  const attempts = ledger.attemptStates(id);
  const isLive = attempts.some(({ status }) => status !== 'settled');
  return {
    ...{ id, name, refs: undefined },
    endedAt: isLive ? null : (endOfRun(ledger, row) ?? null),
    turns: attempts.flatMap((attempt) => (turns.has(attempt.id) ? [attempt.id] : [])),
  };
}

/** Lists what `tidy` would do. */
export async function dryTidying({ directory }: Workspace, { due }: Look): Promise<readonly Tidied[]> {
  return Promise.all(
    due.map(async (one) => ({ ...tidied(one, directory), bytes: await bytesOf(directory, one.output) })),
  );
}

function tidied({ name, id, output, refs, branches, runs }: Tidying, directory: string): Tidied {
  return {
    ...{ run: name, id, output: output.length, bytes: 0, packed: 0 },
    refs: refs.map(({ ref }) => ref),
    branches: branches.map(({ ref, at }) => ({ ref, at })),
    files: runs ? runFolder(directory, id) : null,
  };
}

async function bytesOf(directory: string, turns: readonly string[]): Promise<number> {
  const sizes = await Promise.all(turns.map(async (id) => (await treeSize(join(directory, 'turns', id))) ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

type Part = () => Promise<void>;

/** Removes what is due, and compresses the output of other finished runs. What it did not reach, the next call does. */
export async function tidy(workspace: Workspace, { runs, due }: Look, inTurn: InTurn): Promise<readonly Tidied[]> {
  const { directory } = workspace;
  const done: Tidied[] = [];
  for (const run of runs) {
    if (run.endedAt === null) continue;
    const one = due.find(({ id }) => id === run.id) ?? { ...run, ...NOTHING };
    const files = await filesToPack(directory, run, one.output);
    const bytes = await bytesOf(directory, one.output);
    const parts = [...files.map((path) => async () => packFile(path)), ...partsOf(workspace, one)];
    const isWhole = await allDone(parts, async (part) =>
      inTurn(async () => {
        // Since then, a person may have asked for more of it.
        if (lookIn(workspace, (ledger) => endOfRun(ledger, run)) === undefined) return false;
        await part();
        return true;
      }),
    );
    if (parts.length > 0 && isWhole) done.push({ ...tidied(one, directory), bytes, packed: files.length });
  }
  return done;
}

const NOTHING = { output: [], refs: [], branches: [], runs: false };

async function allDone(parts: readonly Part[], act: (part: Part) => Promise<boolean>): Promise<boolean> {
  for (const part of parts) if (!(await act(part))) return false;
  return true;
}

async function filesToPack(directory: string, { turns }: KeptRun, goes: readonly string[]): Promise<readonly string[]> {
  const stay = turns.filter((id) => !goes.includes(id));
  return (await Promise.all(stay.map(async (id) => unpackedOutput(join(directory, 'turns', id))))).flat();
}

/** So many refs are deleted before another program gets its turn. */
const REFS_AT_ONCE = 20;

function partsOf({ directory, repository, composition }: Workspace, one: Tidying): readonly Part[] {
  const note: Part = async () => noteDropped(directory, one.id, composition.clock.now());
  // The claim of the name comes last.
  const refs: KeptRef[] = [...one.branches, ...one.refs];
  const groups = Array.from({ length: Math.ceil(refs.length / REFS_AT_ONCE) }, (_, index) =>
    refs.slice(index * REFS_AT_ONCE, (index + 1) * REFS_AT_ONCE),
  );
  return [
    ...(one.output.length === 0 ? [] : [note]),
    ...one.output.map((id) => async () => {
      const problem = await deleteFolder(join(directory, 'turns', id));
      if (problem !== undefined) throw wrongEnvironment(`the output of ${id} cannot be deleted: ${problem}`);
      failpoint('keep.output-dropped');
    }),
    ...groups.map((some) => async () => {
      const { deleteRefs } = await import('../substrate/git/squad-refs.ts');
      const problem = await deleteRefs(composition.git, repository, some);
      if (problem !== undefined) throw wrongEnvironment(`git cannot delete a ref: ${problem}`);
      failpoint('keep.ref-dropped');
    }),
    ...(one.runs ? [async () => removeFiles(runFolder(directory, one.id))] : []),
  ];
}

/** Before the first file goes: a reader that finds none finds out why. */
async function noteDropped(directory: string, runId: string, at: number): Promise<void> {
  if ((await outputDroppedAt(directory, runId)) === undefined) {
    await writeRunFile(directory, runId, DROPPED, `${new Date(at).toISOString()}\n`);
  }
  failpoint('keep.noted');
}

/** The folder has not been emptied as long as this is there. */
const LAST_FILE = 'report.md';
const FILES = ['report.html', 'objective.md', 'engine.log', 'ports.json', 'armory', DROPPED, LAST_FILE];

/** Other files there are a person's, and stay. */
async function removeFiles(folder: string): Promise<void> {
  for (const path of [...(await projectedFiles(folder)), ...FILES.map((name) => join(folder, name))]) {
    const problem = await deleteFolder(path);
    if (problem !== undefined) throw wrongEnvironment(`${path} cannot be deleted: ${problem}`);
    failpoint('keep.run-dropped');
  }
  await rmdir(folder).catch(() => undefined);
}

/** Whether a process has to tidy after this run: it has output to compress, or something is due of any run. */
export async function needsTidying(
  workspace: Workspace,
  readKeep: () => Promise<Keep>,
  runId: string,
): Promise<boolean> {
  const { directory, composition } = workspace;
  const known = lookIn(workspace, (ledger) => ({ runs: ledger.runs(), turns: ledger.attemptStates(runId) }));
  for (const { id } of known?.turns ?? []) {
    if ((await unpackedOutput(join(directory, 'turns', id))).length > 0) return true;
  }
  const keep = await readKeep();
  if (!canBeDue(known?.runs ?? [], keep, composition.clock.now())) return false;
  return (await lookForTidying(workspace, keep)).due.length > 0;
}
