import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import type { Keep } from '../model/keep.ts';
import { canBeDue, decideTidying, soonestOf, type KeptRun, type Tidying, type TidyingPlan } from '../rules/tidying.ts';
import { countOldCheckpoints } from '../substrate/ledger/checkpoint-file.ts';
import { ledgerPath, oldBackups } from '../substrate/ledger/index.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { packFile, unpackedOutput } from '../substrate/system/files/packed-output.ts';
import { copiesFolder, runFolder } from '../substrate/system/files/run-files.ts';
import { treeSize } from '../substrate/system/files/tree-size.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { endOfRun } from '../view/end-row.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';
import { LAST_FILE, partsOf, storeParts, type Part } from './tidy-parts.ts';

/** Everything that a tidying removes, or would remove, of one run. */
interface Tidied {
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
  /** How many, besides its newest. */
  readonly checkpoints: number;
  /** The folder with the ignored files that its folders got. */
  readonly copies: string | null;
  /** The folder of its report and other files. */
  readonly files: string | null;
}

export interface Look extends TidyingPlan {
  readonly runs: readonly KeptRun[];
  /** Names of the copies of the ledger that are too many. */
  readonly backups: readonly string[];
}

export interface TidiedAll {
  readonly tidied: readonly Tidied[];
  readonly backups: readonly string[];
}

type Workspace = OpenedWorkspace<Machine>;

/** Calls each part of the work, which leaves everything whole. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Finds what is due by `keep` in a repository. Changes nothing, and needs no lock. `every`: also looks when runs ended of which nothing can
 * be due, nor be the next thing that is; without it a look takes no longer with each run that there was.
 */
export async function lookForTidying(workspace: Workspace, keep: Keep, every = false): Promise<Look> {
  const { directory, composition } = workspace;
  const now = composition.clock.now();
  const rows = lookIn(workspace, (ledger) => ledger.runs()) ?? [];
  const backups = oldBackups(ledgerPath(directory), keep.backups);
  const refs = await findRefs(workspace, keep, rows, now);
  const left = await findLeft(workspace, keep);
  const runs = lookIn(workspace, (ledger) => {
    const all = rows.map((row) => ({ row, run: left(row, attemptsOf(ledger, row), refs?.get(row.name)) }));
    const sooner = all
      .map((one) => ({ ...one, from: soonestOf(one.row.createdAt, one.run, keep) }))
      .toSorted((one, other) => one.from - other.from);
    let next = Infinity;
    return sooner.map(({ row, run, from }): KeptRun => {
      if (!every && (from === Infinity || from > Math.max(now, next))) return run;
      const endedAt = run.isOpen ? null : (endOfRun(ledger, row) ?? null);
      const at = (endedAt ?? Infinity) + from - row.createdAt;
      if (at > now) next = Math.min(next, at);
      return { ...run, endedAt };
    });
  });
  return { runs: runs ?? [], backups, ...decideTidying(runs ?? [], keep, now) };
}

/** undefined: none can be due. `squad status` loads git's part only if one may be. */
async function findRefs(workspace: Workspace, keep: Keep, rows: readonly RunRow[], now: number) {
  const { composition, repository } = workspace;
  const old = rows.filter(({ createdAt }) => keep.refsMs !== null && createdAt + keep.refsMs <= now);
  const mayBeDue =
    old.length > 0 && lookIn(workspace, (ledger) => old.some((row) => endOfRun(ledger, row) !== undefined));
  if (mayBeDue !== true && keep.branches === 'all' && keep.runs === null) return undefined;
  const { findRunRefs } = await import('../substrate/git/squad-refs.ts');
  return findRunRefs(composition.git, repository, new Map(rows.map(({ name, id }) => [name, id])));
}

/** An attempt that is not settled keeps its run open. */
function attemptsOf(ledger: Ledger, { id }: RunRow) {
  const attempts = ledger.attemptStates(id);
  return { ids: attempts.map((one) => one.id), isOpen: attempts.some(({ status }) => status !== 'settled') };
}

/**
 * Looks what runs have on the disk. One with a folder that a task still has counts as one that can continue. `endedAt` is null until it is
 * looked up.
 */
async function findLeft({ host, directory }: Workspace, keep: Keep) {
  const places = [join(directory, 'turns'), join(directory, 'copies'), workspacePlaces(host, directory).runsDirectory];
  const names = places.map(async (path) => new Set(await readdir(path).catch(() => [])));
  const [turns = EMPTY, copies = EMPTY, folders = EMPTY] = await Promise.all(names);
  const old = countOldCheckpoints(directory);
  return (
    { id, name }: RunRow,
    attempts: ReturnType<typeof attemptsOf>,
    refs: KeptRun['refs'],
  ): KeptRun & { readonly isOpen: boolean } => ({
    ...{ id, name, refs, endedAt: null },
    isOpen: attempts.isOpen || folders.has(name),
    turns: attempts.ids.filter((attempt) => turns.has(attempt)),
    hasFiles: keep.runs !== null && existsSync(join(runFolder(directory, id), LAST_FILE)),
    hasCopies: copies.has(id),
    checkpoints: old.get(id) ?? 0,
  });
}

const EMPTY: ReadonlySet<string> = new Set();

/** Lists what `tidy` would do. */
export async function dryTidying({ directory }: Workspace, { due, backups }: Look): Promise<TidiedAll> {
  const tidied = due.map(async (one) => ({ ...tidiedOf(one, directory), bytes: await bytesOf(directory, one.output) }));
  return { tidied: await Promise.all(tidied), backups };
}

function tidiedOf({ name, id, output, refs, branches, checkpoints, copies, runs }: Tidying, directory: string): Tidied {
  return {
    ...{ run: name, id, output: output.length, bytes: 0, packed: 0 },
    refs: refs.map(({ ref }) => ref),
    branches: branches.map(({ ref, at }) => ({ ref, at })),
    checkpoints,
    copies: copies ? copiesFolder(directory, id) : null,
    files: runs ? runFolder(directory, id) : null,
  };
}

async function bytesOf(directory: string, turns: readonly string[]): Promise<number> {
  const sizes = await Promise.all(turns.map(async (id) => (await treeSize(join(directory, 'turns', id))) ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Removes what is due, and compresses the output of other finished runs. What it did not reach, the next call does. */
export async function tidy(workspace: Workspace, { runs, due, backups }: Look, inTurn: InTurn): Promise<TidiedAll> {
  const { directory } = workspace;
  const tidied: Tidied[] = [];
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
    if (parts.length > 0 && isWhole) tidied.push({ ...tidiedOf(one, directory), bytes, packed: files.length });
  }
  for (const part of storeParts(directory, backups)) while (await inTurn(part)) continue;
  return { tidied, backups };
}

const NOTHING = { output: [], refs: [], branches: [], checkpoints: 0, copies: false, runs: false };

async function allDone(parts: readonly Part[], act: (part: Part) => Promise<boolean>): Promise<boolean> {
  for (const part of parts) if (!(await act(part))) return false;
  return true;
}

async function filesToPack(directory: string, { turns }: KeptRun, goes: readonly string[]): Promise<readonly string[]> {
  const stay = turns.filter((id) => !goes.includes(id));
  return (await Promise.all(stay.map(async (id) => unpackedOutput(join(directory, 'turns', id))))).flat();
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
  if (oldBackups(ledgerPath(directory), keep.backups).length > 0) return true;
  if (!canBeDue(known?.runs ?? [], keep, composition.clock.now())) return false;
  return (await lookForTidying(workspace, keep)).due.length > 0;
}
