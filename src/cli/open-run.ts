import { join } from 'node:path';
import { compose, type Composition } from '../compose.ts';
import { isSquadError } from '../model/errors.ts';
import { drivenRun, noRunYet, readRun, type RunReading } from '../read-model/read-run.ts';
import { openCheckout, type Checkout } from '../substrate/git/repository.ts';
import { openLedger } from '../substrate/ledger/index.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { CommandContext } from './command-context.ts';

/** Where squad keeps what it knows of a repository. */
export interface OpenedWorkspace {
  readonly repository: Checkout;
  /** `.squad` of the repository. */
  readonly directory: string;
  readonly composition: Composition;
}

/** A run as it stands on disk, read without a lock. */
export interface OpenedRun extends OpenedWorkspace {
  readonly reading: RunReading;
  readonly now: number;
}

export async function openWorkspace({ host }: CommandContext): Promise<OpenedWorkspace> {
  const composition = compose(host);
  const repository = await openCheckout(composition.git, host.workingDirectory);
  return { composition, repository, directory: join(repository.root, '.squad') };
}

/** The run by name or id; else the one that an engine drives, or the newest. Changes nothing on disk. Throws `usage` where there is none. */
export async function openRun(context: CommandContext, name: string | undefined): Promise<OpenedRun> {
  const workspace = await openWorkspace(context);
  const { directory, composition } = workspace;
  // Before the ledger is read: an engine that starts in between shows up in the next look, never as a dead one.
  const lockedBy = probeLock(directory);
  const reading = readLedger(directory, composition, (ledger) =>
    readRun(ledger, name ?? drivenRun(ledger, lockedBy), lockedBy),
  );
  return { ...workspace, reading, now: composition.clock.now() };
}

/** Throws `usage` where nothing ever ran. */
export function readLedger<T>(directory: string, { clock }: Composition, read: (ledger: Ledger) => T): T {
  const ledger = openExisting(directory, clock);
  try {
    return read(ledger);
  } finally {
    ledger.close();
  }
}

function openExisting(directory: string, clock: Composition['clock']): Ledger {
  try {
    return openLedger(directory, { clock, readOnly: true });
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') throw noRunYet();
    throw error;
  }
}

/** Where a run's files for people are. */
export function reportPath(directory: string, runId: string): string {
  return join(directory, 'runs', runId, 'report.md');
}
