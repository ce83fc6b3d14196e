import type { Host, Machine } from '../../engine/machine.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { hasConsent } from '../preflight/consent.ts';
import { forgeItems } from '../preflight/forge-items.ts';
import type { RepositoryForge } from '../preflight/read-forge.ts';

/** Whether a person has agreed to what issues start, as the settings are now. */
export async function isForgeAgreed(
  { host, repository }: Pick<OpenedWorkspace<Machine>, 'repository'> & { readonly host: Host },
  { forge, source }: RepositoryForge,
): Promise<boolean> {
  return forge === undefined || hasConsent(forgeItems(forge, source), { host }, repository);
}
