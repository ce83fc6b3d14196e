import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '../model/sha256.ts';
import type { Composition } from '../compose.ts';
import type { Host, Machine } from '../machine.ts';
import { isSquadError } from '../model/errors.ts';
import {
  drivenRun,
  noRunYet,
  readRun,
  withAttempts,
  type RunHistory,
  type RunReading,
} from '../read-model/read-run.ts';
import { openCheckout, type Checkout } from '../substrate/git/repository.ts';
import { bringUpToDate, ledgerPath, openLedger } from '../substrate/ledger/index.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

/** The machine, seen from one folder of it, and what was composed for it. */
export interface Place<Ports extends Machine = Composition> {
  readonly host: Host;
  /** Absent: squad's own runtimes and playbooks. */
  readonly composition?: Ports;
}

/** A repository and its `.squad` folder. */
export interface OpenedWorkspace<Ports extends Machine = Composition> extends Required<Place<Ports>> {
  readonly repository: Checkout;
  /** `.squad` of the repository. */
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

async function composed({ host, composition }: Place): Promise<Composition> {
  return composition ?? (await import('../compose.ts')).compose(host);
}

/** The repository without the runtimes. */
export async function workspaceIn<Ports extends Machine>(
  place: Required<Place<Ports>>,
): Promise<OpenedWorkspace<Ports>> {
  const repository = await openCheckout(place.composition.git, place.host.workingDirectory);
  return { ...place, repository, directory: join(repository.root, '.squad') };
}

/**
 * The run by name, its id or the caller's own id; by default the one that is running, or the newest. Read only. Throws `usage`
 * if there is none.
 */
export async function openRun(place: Place, name: string | undefined): Promise<OpenedRun> {
  const { found, ...opened } = await readRunIn({ ...place, composition: await composed(place) }, name, withAttempts);
  return { ...opened, reading: found };
}

/** The same without the runtimes. `found`: what `read` makes of the run while the ledger is open. */
export async function readRunIn<Ports extends Machine, Found>(
  place: Required<Place<Ports>>,
  name: string | undefined,
  read: (ledger: Ledger, reading: RunReading) => Found,
): Promise<OpenedWorkspace<Ports> & { readonly found: Found; readonly now: number }> {
  const workspace = await workspaceIn(place);
  const { directory, composition } = workspace;
  // Before the ledger is read, so that an engine that starts in between never looks dead.
  const lockedBy = probeLock(directory);
  const found = readLedger(workspace, (ledger) => {
    const own = name === undefined ? undefined : ledger.run(runIdOf(workspace.repository.root, name));
    return read(
      ledger,
      readRun(ledger, own?.id ?? name ?? drivenRun(ledger, lockedBy), lockedBy, composition.playbooks),
    );
  });
  return { ...workspace, found, now: composition.clock.now() };
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
  if (!existsSync(ledgerPath(place.directory))) return undefined;
  try {
    bringUpToDate(place.directory, place.composition.clock);
    return readLedger(place, read);
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
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
 * The id of the run that a caller calls `id`: the same for the same repository, and another one elsewhere, because its end
 * marks the run's processes on this machine.
 */
export function runIdOf(root: string, id: string): string {
  const hex = sha256Of(`squad-run\0${root}\0${id}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}
