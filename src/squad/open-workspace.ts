import { basename } from 'node:path';
import type { Composition } from '../engine/compose.ts';
import type { Host, Machine } from '../engine/machine.ts';
import { isSquadError } from '../model/errors.ts';
import { sha256Of } from '../model/sha256.ts';
import { noRunYet, unknownRun } from '../model/unknown-name.ts';
import type { LockedBy } from '../view/driven.ts';
import { showState } from '../substrate/system/files/checkout-view.ts';
import { bindState, findState, strayStates, type FoundState } from '../substrate/system/files/state-place.ts';
import { plainCheckout } from '../substrate/git/plain-checkout.ts';
import type { Checkout } from '../substrate/git/repository.ts';
import { hasLedger, openLedger } from '../substrate/ledger/index.ts';
import { requireOwnFolder } from '../substrate/ledger/require-place.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

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

/** The repository at the place. With a `Machine` as composition, the runtimes are not loaded. */
export async function openWorkspace(place: Place): Promise<OpenedWorkspace>;
export async function openWorkspace<Ports extends Machine>(
  place: Required<Place<Ports>>,
): Promise<OpenedWorkspace<Ports>>;
export async function openWorkspace(place: Place<Machine>): Promise<OpenedWorkspace<Machine>> {
  const { host } = place;
  const composition = place.composition ?? (await import('../engine/compose.ts')).compose(host);
  const repository = await checkoutAt(composition, host.workingDirectory);
  const state = findState(host.stateDirectory, repository.commonDirectory);
  requireOwnFolder(state.directory);
  if (state.type === 'known') showState(repository.root, state.directory);
  return { host, composition, repository, state, directory: state.directory };
}

/** Without git where files prove what it would say, because it takes longer than reading mail, and so does loading its module. */
export async function checkoutAt({ git }: Machine, path: string): Promise<Checkout> {
  const plain = plainCheckout(path);
  if (plain !== undefined) return { root: plain.root, commonDirectory: plain.gitDirectory };
  return (await import('../substrate/git/repository.ts')).openCheckout(git, path);
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

type LedgerPlace<Ports = Pick<Machine, 'clock'>> = Pick<OpenedWorkspace, 'directory'> & { readonly composition: Ports };

/**
 * Calls `work` with the ledger, which is open until it ends. `read` changes nothing and throws `usage` if there is no ledger; `write`
 * takes commands and mail.
 */
export async function withLedger<T>(
  place: LedgerPlace<Pick<Composition, 'clock' | 'redactor'>>,
  how: 'read' | 'write',
  work: (ledger: Ledger) => T | Promise<T>,
): Promise<T>;
export async function withLedger<T>(
  place: LedgerPlace,
  how: 'read',
  work: (ledger: Ledger) => T | Promise<T>,
): Promise<T>;
export async function withLedger<T>(
  place: LedgerPlace,
  how: 'read' | 'write',
  work: (ledger: Ledger) => T | Promise<T>,
): Promise<T> {
  const ledger = how === 'read' ? findLedger(place) : openLedger(place.directory, place.composition);
  if (ledger === undefined) throw noRunYet();
  try {
    return await work(ledger);
  } finally {
    ledger.close();
  }
}

/**
 * Looks into the ledger; undefined: there is no complete one here yet. It looks at the lock before it reads, so that an engine that starts
 * in between never looks dead.
 */
export function lookIn<T>(
  place: LedgerPlace,
  look: (ledger: Ledger, lockedBy: LockedBy | null, now: number) => T,
): T | undefined {
  const { directory, composition } = place;
  if (!hasLedger(directory)) return undefined;
  const now = composition.clock.now();
  const lockedBy = probeLock(directory);
  const ledger = findLedger(place);
  try {
    return ledger?.snapshot(() => look(ledger, lockedBy, now));
  } finally {
    ledger?.close();
  }
}

/** undefined: there is none, or it is not complete. */
function findLedger({ directory, composition: { clock } }: LedgerPlace): Ledger | undefined {
  try {
    return openLedger(directory, { clock, readOnly: true });
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
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

type Directory = Pick<OpenedWorkspace, 'directory'>;

/** By the caller's own id, its id or its name. */
export function runNamed({ directory }: Directory, ledger: Ledger, name: string): RunRow | undefined {
  return ledger.run(runIdOf(directory, name)) ?? ledger.run(name);
}

/** As `runNamed`. Throws `usage` with the nearest known name. */
export function requireNamed(place: Directory, ledger: Ledger, name: string): RunRow {
  const row = runNamed(place, ledger, name);
  if (row !== undefined) return row;
  const known = ledger.runs().map((one) => one.name);
  throw unknownRun(name, known);
}
