import { basename } from 'node:path';
import { sha256Of } from '../model/sha256.ts';
import type { Composition } from '../engine/compose.ts';
import type { Host, Machine } from '../engine/machine.ts';
import { isSquadError } from '../model/errors.ts';
import {
  drivenRun,
  noRunYet,
  readRun,
  withAttempts,
  type LockedBy,
  type RunHistory,
  type RunReading,
} from '../view/read-run.ts';
import { openCheckout, type Checkout } from '../substrate/git/repository.ts';
import { showState } from '../substrate/system/files/checkout-view.ts';
import { bindState, findState, strayStates, type FoundState } from '../substrate/system/files/state-place.ts';
import { hasLedger, openLedger } from '../substrate/ledger/index.ts';
import { requireOwnFolder } from '../substrate/ledger/require-place.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import { shellWord } from '../text/shell-word.ts';
import { plainLine } from '../text/plain-text.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

/** The machine, seen from one folder of it, and what was composed for it. */
export interface Place<Ports extends Machine = Composition> {
  readonly host: Host;
  /** Absent: squad's own runtimes and playbooks. */
  readonly composition?: Ports;
}

/** A repository, and what this person's state folder has of it. */
export interface OpenedWorkspace<Ports extends Machine = Composition> extends Required<Place<Ports>> {
  readonly repository: Checkout;
  readonly state: FoundState;
  /** The folder with the ledger. Nothing is there if nothing ran yet. */
  readonly directory: string;
}

/** A run as it is on disk, read without a lock. */
export interface OpenedRun<Ports extends Machine = Composition> extends OpenedWorkspace<Ports> {
  readonly reading: RunHistory;
  readonly now: number;
}

export async function openWorkspace(place: Place): Promise<OpenedWorkspace> {
  return workspaceIn({ ...place, composition: await composed(place) });
}

/** Makes a place for the repository in the state folder, where the next run writes. */
export function bindWorkspace<Ports extends Machine>(workspace: OpenedWorkspace<Ports>): OpenedWorkspace<Ports> {
  const { repository, host } = workspace;
  const place = bindState(host.stateDirectory, repository.commonDirectory, basename(repository.root));
  return { ...workspace, state: { type: 'known', ...place }, directory: place.directory };
}

/** For a process that stays: looks the state up at each use, because the first run may begin at any time. */
export function followWorkspace<Ports extends Machine>(opened: OpenedWorkspace<Ports>): OpenedWorkspace<Ports> {
  const { host, repository } = opened;
  const find = (): FoundState => findState(host.stateDirectory, repository.commonDirectory);
  return {
    ...opened,
    get state() {
      return find();
    },
    get directory() {
      return find().directory;
    },
  };
}

async function composed({ host, composition }: Place): Promise<Composition> {
  return composition ?? (await import('../engine/compose.ts')).compose(host);
}

/** The repository without the runtimes. */
export async function workspaceIn<Ports extends Machine>(
  place: Required<Place<Ports>>,
): Promise<OpenedWorkspace<Ports>> {
  const repository = await openCheckout(place.composition.git, place.host.workingDirectory);
  const state = findState(place.host.stateDirectory, repository.commonDirectory);
  requireOwnFolder(state.directory);
  if (state.type === 'known') showState(repository.root, state.directory);
  return { ...place, repository, state, directory: state.directory };
}

/**
 * The run by name, its id or the caller's own id; by default the one that is running, or the newest. Read only. Throws `usage`
 * if there is none.
 */
export async function openRun(place: Place, name: string | undefined): Promise<OpenedRun> {
  const { found, ...opened } = await readRunIn({ ...place, composition: await composed(place) }, name, withAttempts);
  return { ...opened, reading: found };
}

/** As `openRun`, without the runtimes. `read` is called while the ledger is open. */
export async function readRunIn<Ports extends Machine, Found>(
  place: Required<Place<Ports>>,
  name: string | undefined,
  read: (ledger: Ledger, reading: RunReading) => Found,
): Promise<OpenedWorkspace<Ports> & { readonly found: Found; readonly now: number }> {
  return readRowIn(place, name, (ledger, given, lockedBy) =>
    read(ledger, readRun(ledger, given, lockedBy, place.composition.playbooks)),
  );
}

/** As `readRunIn`, but folds no plan. `given`: the run's id or name; undefined: the newest one. */
export async function readRowIn<Ports extends Machine, Found>(
  place: Required<Place<Ports>>,
  name: string | undefined,
  read: (ledger: Ledger, given: string | undefined, lockedBy: LockedBy | null, now: number) => Found,
): Promise<OpenedWorkspace<Ports> & { readonly found: Found; readonly now: number }> {
  const workspace = await workspaceIn(place);
  const { directory, composition } = workspace;
  requireRuns(workspace);
  const now = composition.clock.now();
  // Before the ledger is read, so that an engine that starts in between never looks dead.
  const lockedBy = probeLock(directory);
  const found = readLedger(workspace, (ledger) => {
    const own = name === undefined ? undefined : ledger.run(runIdOf(workspace.directory, name));
    return read(ledger, own?.id ?? name ?? drivenRun(ledger, lockedBy), lockedBy, now);
  });
  return { ...workspace, found, now };
}

/** Throws `usage` if no run was ever started here, with where the runs may be. */
export function requireRuns(workspace: OpenedWorkspace<Machine>): void {
  if (!hasLedger(workspace.directory)) throw noRunYet(whereRunsAre(workspace));
}

/** Where the runs are that a person may look for. */
function whereRunsAre({ repository, state, host }: OpenedWorkspace<Machine>): string {
  const stray = strayStates(host.stateDirectory, repository.commonDirectory).find(hasLedger);
  if (stray !== undefined && state.type === 'none' && state.why !== 'copy')
    return ` To take over the runs in ${plainLine(stray)}: \`squad state --adopt ${shellWord(plainLine(stray))}\`.`;
  if (state.type === 'known' || state.why === 'no-id') return '';
  if (state.why === 'copy') return ` This is a copy of the repository at ${plainLine(state.of, 300)}, which has runs.`;
  return ' squad ran here with another state folder. To take that over: `squad state --adopt FOLDER`, or set SQUAD_STATE.';
}

type LedgerPlace<Ports extends Machine = Machine> = Pick<OpenedWorkspace<Ports>, 'directory' | 'composition'>;

/** Throws `usage` if there is no ledger. */
export function readLedger<T>(place: LedgerPlace, read: (ledger: Ledger) => T): T {
  const ledger = openExisting(place);
  try {
    return read(ledger);
  } finally {
    ledger.close();
  }
}

/** undefined: there is no complete ledger here yet. */
export function readIfThere<T>(place: LedgerPlace, read: (ledger: Ledger) => T): T | undefined {
  if (!hasLedger(place.directory)) return undefined;
  try {
    return readLedger(place, read);
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
}

/**
 * As `readIfThere`, with the holder of the workspace's lock. It looks at the lock before it reads the ledger, so that an engine that
 * starts in between never looks dead.
 */
export function lookIn<T>(
  place: LedgerPlace,
  look: (ledger: Ledger, lockedBy: LockedBy | null, now: number) => T,
): T | undefined {
  const { directory, composition } = place;
  if (!hasLedger(directory)) return undefined;
  const now = composition.clock.now();
  const lockedBy = probeLock(directory);
  return readIfThere(place, (ledger) => look(ledger, lockedBy, now));
}

function openExisting({ directory, composition: { clock } }: LedgerPlace): Ledger {
  try {
    return openLedger(directory, { clock, readOnly: true });
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') throw noRunYet();
    throw error;
  }
}

export async function writeLedger<T>(
  { directory, composition }: LedgerPlace<Composition>,
  write: (ledger: Ledger) => T | Promise<T>,
): Promise<T> {
  const ledger = openLedger(directory, composition);
  try {
    return await write(ledger);
  } finally {
    ledger.close();
  }
}

/**
 * The id of the run that a caller calls `id`: the same for the same repository, whose state is in `directory`, and another one
 * elsewhere, because its end marks the run's processes on this machine.
 */
export function runIdOf(directory: string, id: string): string {
  const hex = sha256Of(`squad-run\0${basename(directory)}\0${id}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
