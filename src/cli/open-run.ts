import { join } from 'node:path';
import { compose, type Composition } from '../compose.ts';
import { isSquadError } from '../model/errors.ts';
import { drivenRun, noRunYet, readRun, type RunReading } from '../read-model/read-run.ts';
import { openCheckout, type Checkout } from '../substrate/git/repository.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { CommandContext } from './command-context.ts';

/** A repository and its `.squad` folder. */
export interface OpenedWorkspace {
  readonly repository: Checkout;
  /** `.squad` of the repository. */
  readonly directory: string;
  readonly composition: Composition;
}

/** A run as it is on disk, read without a lock. */
export interface OpenedRun extends OpenedWorkspace {
  readonly reading: RunReading;
  readonly now: number;
}

export async function openWorkspace({ host }: CommandContext): Promise<OpenedWorkspace> {
  const composition = compose(host);
  const repository = await openCheckout(composition.git, host.workingDirectory);
  return { composition, repository, directory: join(repository.root, '.squad') };
}

/** The run by name or id; by default the one that is running, or the newest. Read only. Throws `usage` if there is none. */
export async function openRun(context: CommandContext, name: string | undefined): Promise<OpenedRun> {
  const workspace = await openWorkspace(context);
  const { directory, composition } = workspace;
  // Before the ledger is read, so that an engine that starts in between never looks dead.
  const lockedBy = probeLock(directory);
  const reading = readLedger(workspace, (ledger) => readRun(ledger, name ?? drivenRun(ledger, lockedBy), lockedBy));
  return { ...workspace, reading, now: composition.clock.now() };
}

export type LedgerPlace = Pick<OpenedWorkspace, 'directory' | 'composition'>;

/** Throws `usage` if there is no ledger. */
export function readLedger<T>(place: LedgerPlace, read: (ledger: Ledger) => T): T {
  const ledger = openExisting(place);
  try {
    return read(ledger);
  } finally {
    ledger.close();
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
  { directory, composition }: LedgerPlace,
  write: (ledger: Ledger) => T | Promise<T>,
): Promise<T> {
  const ledger = openLedger(directory, composition);
  try {
    return await write(ledger);
  } finally {
    ledger.close();
  }
}
