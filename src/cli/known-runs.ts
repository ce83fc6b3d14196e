import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CommandContext } from './command-context.ts';
import type { Composition } from '../compose.ts';
import { isSquadError } from '../model/errors.ts';
import { findRun, isOver } from '../read-model/read-run.ts';
import { openCheckout, runBranches } from '../substrate/git/repository.ts';
import { bringUpToDate, ledgerPath, openLedger } from '../substrate/ledger/index.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';

/** Names that a new run cannot have: recorded runs, existing branches, and folders with worktrees of unrecorded runs. */
export async function takenNames(
  { host }: CommandContext,
  composition: Composition,
  { root, key }: Pick<RepositoryReport, 'root' | 'key'>,
): Promise<readonly string[]> {
  const recorded = withLedger(composition, root, (ledger) => ledger.runs().map(({ name }) => name)) ?? [];
  const folders = await readdir(join(host.stateHome, 'squad', key)).catch(() => []);
  return [...recorded, ...folders, ...(await runBranches(composition.git, root))];
}

/** The newest unfinished run of this objective file; undefined if there is none. */
export async function unfinishedRunOf(
  { host }: CommandContext,
  composition: Composition,
  path: string,
): Promise<string | undefined> {
  const { root } = await openCheckout(composition.git, host.workingDirectory);
  const wanted = resolve(host.workingDirectory, path);
  return withLedger(
    composition,
    root,
    (ledger) =>
      ledger
        .runs()
        .toReversed()
        .find(({ id }) => isUnfinished(ledger, id, wanted, host.workingDirectory))?.id,
  );
}

function isUnfinished(ledger: Ledger, id: string, wanted: string, folder: string): boolean {
  const reading = findRun(ledger, id, null);
  return reading !== undefined && !isOver(reading) && resolve(folder, reading.definition.source) === wanted;
}

/** undefined: there is no complete ledger here yet. */
function withLedger<T>({ clock }: Composition, root: string, read: (ledger: Ledger) => T): T | undefined {
  const directory = join(root, '.squad');
  if (!existsSync(ledgerPath(directory))) return undefined;
  let ledger: Ledger;
  try {
    bringUpToDate(directory, clock);
    ledger = openLedger(directory, { clock, readOnly: true });
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
  try {
    return read(ledger);
  } finally {
    ledger.close();
  }
}
