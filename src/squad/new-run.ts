import { readdir } from 'node:fs/promises';
import { preflight, type Preflight, type PreflightRequest, type RunChoices } from './preflight/preflight.ts';
import type { Source } from './preflight/source.ts';
import type { TrustItem } from './preflight/trust-item.ts';
import { findState, workspacePlaces } from '../substrate/system/files/state-place.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { lookIn, type OpenedWorkspace } from './open-workspace.ts';

/** Who agrees to the commands of the objective and the repository. */
export interface TrustOption {
  /**
   * Consent to commands of the objective and repository. `yes`: for this run. A function gets them; squad remembers its `true`
   * for these commands in this repository. Absent: commands without an earlier consent are refused with `not-trusted`.
   */
  readonly trust?: 'yes' | ((commands: readonly TrustItem[]) => Promise<boolean>) | undefined;
}

/** Options of a new run. An absent one comes from the objective, from `squad.yaml`, or is a default of squad. */
export interface NewRunOptions extends TrustOption, RunChoices {}

/**
 * Checks a run before it exists. Throws the first problem. `otherwise`: the playbook where no file names one. `own`: a name that
 * is the run's already. `elsewhere`: more names that are taken.
 */
export async function checkNewRun(
  { host, composition }: Pick<OpenedWorkspace, 'host' | 'composition'>,
  source: Source,
  { trust, ...options }: NewRunOptions & Pick<PreflightRequest, 'otherwise' | 'attended' | 'dryRun'>,
  own?: string,
  elsewhere: readonly string[] = [],
): Promise<Preflight> {
  const ports = { ...composition, host, ...consentOf(trust) };
  const takenNames = async (repository: RepositoryReport): Promise<readonly string[]> => {
    const names = await findNames({ host, composition, repository });
    return [...names, ...elsewhere].filter((name) => name !== own);
  };
  return preflight({ ...ports, takenNames }, { source, yes: trust === 'yes', ...options });
}

export function consentOf(trust: TrustOption['trust']) {
  return typeof trust === 'function' ? { confirm: trust } : {};
}

/** Names that a new run cannot have: recorded runs, existing branches, and folders with work of unrecorded runs. */
export async function findNames({
  host,
  composition,
  repository: { commonDirectory, runBranches },
}: Pick<OpenedWorkspace, 'host' | 'composition'> & { readonly repository: RepositoryReport }): Promise<
  readonly string[]
> {
  const { directory } = findState(host.stateDirectory, commonDirectory);
  const place = { directory, composition };
  const recorded = lookIn(place, (ledger) => ledger.runs().map(({ name }) => name)) ?? [];
  const names = await readdir(workspacePlaces(host, directory).runsDirectory).catch(() => []);
  const folders = names.filter((name) => !name.startsWith('.'));
  return [...recorded, ...folders, ...runBranches];
}
