import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Machine } from '../engine/machine.ts';
import type { Keep } from '../model/keep.ts';
import { canBeDue, decideTidying, type KeptRun, type Tidying, type TidyingPlan } from '../rules/tidying.ts';
import { countOldCheckpoints } from '../substrate/ledger/checkpoint-file.ts';
import { ledgerPath, oldBackups } from '../substrate/ledger/index.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { packFile, unpackedOutput } from '../substrate/system/files/packed-output.ts';
import { copiesFolder, runFolder } from '../substrate/system/files/run-files.ts';
import { treeSize } from '../substrate/system/files/tree-size.ts';
import { workspacePlaces } from '../substrate/system/files/state-place.ts';
import { endOfRun } from '../view/ended-view.ts';
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

/** Finds what is due by `keep` in a repository. Changes nothing, and needs no lock. `git`: look at refs even if none can be due. */
export async function lookForTidying(workspace: Workspace, keep: Keep, git = false): Promise<Look> {
  const { directory, composition } = workspace;
  const now = composition.clock.now();
  const known = lookIn(workspace, (ledger) => ledger.runs().map((row) => stateOfRun(ledger, row)));
  const backups = oldBackups(ledgerPath(directory), keep.backups);
  const runs = await findLeft(workspace, keep, known ?? []);
  const ended = runs.flatMap(({ endedAt }) => (endedAt === null ? [] : [endedAt]));
  const mayBeDue = ended.some((at) => keep.refsMs !== null && at + keep.refsMs <= now);
  if (!git && !mayBeDue && keep.branches === 'all' && keep.runs === null)
    return { runs, backups, ...decideTidying(runs, keep, now) };
  const ids = new Map(runs.map(({ name, id }) => [name, id]));
  // `squad status` loads it only if a ref may be due.
  const { findRunRefs } = await import('../substrate/git/squad-refs.ts');
  const refs = await findRunRefs(composition.git, workspace.repository, ids);
  const whole = runs.map((run) => ({ ...run, refs: refs.get(run.name) }));
  return { runs: whole, backups, ...decideTidying(whole, keep, now) };
}

interface RunState extends Pick<KeptRun, 'id' | 'name' | 'endedAt'> {
  readonly attempts: readonly string[];
}

function stateOfRun(ledger: Ledger, row: RunRow): RunState {
  const { id, name } = row;
  const attempts = ledger.attemptStates(id);
  const isLive = attempts.some(({ status }) => status !== 'settled');
  const endedAt = isLive ? null : (endOfRun(ledger, row) ?? null);
  return { id, name, endedAt, attempts: attempts.map((attempt) => attempt.id) };
}

/** Looks what these runs have on the disk. One with a folder that a task still has counts as one that can continue. */
async function findLeft({ host, directory }: Workspace, keep: Keep, runs: readonly RunState[]): Promise<KeptRun[]> {
  const places = [join(directory, 'turns'), join(directory, 'copies'), workspacePlaces(host, directory).runsDirectory];
  const names = places.map(async (path) => new Set(await readdir(path).catch(() => [])));
  const [turns = EMPTY, copies = EMPTY, folders = EMPTY] = await Promise.all(names);
  const old = runs.length === 0 ? new Map<string, number>() : countOldCheckpoints(directory);
  return runs.map(({ id, name, endedAt, attempts }) => ({
    ...{ id, name, refs: undefined },
    endedAt: folders.has(name) ? null : endedAt,
    turns: attempts.filter((attempt) => turns.has(attempt)),
    hasFiles: keep.runs !== null && existsSync(join(runFolder(directory, id), LAST_FILE)),
    hasCopies: copies.has(id),
    checkpoints: old.get(id) ?? 0,
  }));
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
