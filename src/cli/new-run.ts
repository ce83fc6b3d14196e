import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { compose, type Composition } from '../compose.ts';
import { isSquadError } from '../model/errors.ts';
import { limitsFromOptions } from '../model/limits.ts';
import { preflight, type Preflight } from '../preflight/preflight.ts';
import type { TrustItem } from '../preflight/trust.ts';
import { findRun, isOver } from '../read-model/read-run.ts';
import { runBranches } from '../substrate/git/repository.ts';
import { bringUpToDate, ledgerPath } from '../substrate/ledger/index.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { plainLine } from '../text/plain-text.ts';
import type { CommandContext, JsonOptions, RunOptions } from './command-context.ts';
import { openWorkspace, readLedger, type LedgerPlace } from './open-run.ts';

/** Checks a run before it exists. A person at the terminal agrees to its commands here. */
export async function checkNewRun(
  context: CommandContext,
  objectivePath: string,
  options: RunOptions,
): Promise<Preflight> {
  const { host } = context;
  const composition = compose(host);
  return preflight(
    {
      ...composition,
      host,
      takenNames: async (repository) => takenNames(context, composition, repository),
      ...askForConsent(context, options),
    },
    {
      objectivePath,
      playbook: options.playbook,
      runtime: options.runtime,
      limits: limitsFromOptions(options),
      yes: options.yes === true,
      allowFullAccess: options.allowFullAccess === true,
      name: options.name,
      strict: options.strict,
    },
  );
}

/** Names that a new run cannot have: recorded runs, existing branches, and folders with worktrees of unrecorded runs. */
async function takenNames(
  { host }: CommandContext,
  composition: Composition,
  { root, key }: Pick<RepositoryReport, 'root' | 'key'>,
): Promise<readonly string[]> {
  const place = { directory: join(root, '.squad'), composition };
  const recorded = readIfThere(place, (ledger) => ledger.runs().map(({ name }) => name)) ?? [];
  const folders = await readdir(join(host.stateHome, 'squad', key)).catch(() => []);
  return [...recorded, ...folders, ...(await runBranches(composition.git, root))];
}

/** The newest unfinished run of this objective file; undefined if there is none. */
export async function unfinishedRunOf(context: CommandContext, path: string): Promise<string | undefined> {
  const folder = context.host.workingDirectory;
  const isUnfinished = (ledger: Ledger, id: string): boolean => {
    const run = findRun(ledger, id, null);
    return run !== undefined && !isOver(run) && resolve(folder, run.definition.source) === resolve(folder, path);
  };
  return readIfThere(
    await openWorkspace(context),
    (ledger) => ledger.runs().findLast(({ id }) => isUnfinished(ledger, id))?.id,
  );
}

/** undefined: there is no complete ledger here yet. */
function readIfThere<T>(place: LedgerPlace, read: (ledger: Ledger) => T): T | undefined {
  if (!existsSync(ledgerPath(place.directory))) return undefined;
  try {
    bringUpToDate(place.directory, place.composition.clock);
    return readLedger(place, read);
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
}

interface Consent {
  confirm?(items: readonly TrustItem[]): Promise<boolean>;
}

/** Asks for consent to commands. Empty if no person can answer. */
export function askForConsent(context: CommandContext, { json }: JsonOptions): Consent {
  if (!process.stdin.isTTY || json === true) return {};
  return { confirm: async (items) => confirmTrust(context, items) };
}

/** Shows every command with its source. Only `y` or `yes` counts as consent. */
async function confirmTrust({ output }: CommandContext, items: readonly TrustItem[]): Promise<boolean> {
  output.problem('The objective or the repository wants to run these commands on this machine:');
  for (const { from, run: command, where } of items) output.problem(`  ${where}: ${from}: ${plainLine(command, 4096)}`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question('Allow exactly these commands, now and in later runs? [y/N] ');
    return /^(?:y|yes)$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
