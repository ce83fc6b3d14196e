import type { Composition, Host } from '../compose.ts';
import { acpAgentIn } from '../model/runtime-name.ts';
import type { Settings } from '../model/settings.ts';
import { unknownRuntime } from '../model/unknown-name.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import type { RepositoryReport } from '../substrate/ports/workspaces.ts';
import { agree, type TrustPorts } from './consent.ts';
import { readSettings } from './read-settings.ts';
import { describeRuntimes, refuseUnknownRuntime, resolveRuntimes } from './runtimes.ts';
import { itemsToTrust } from './trust.ts';

interface TurnRuntimePorts extends Composition, Pick<TrustPorts, 'confirm'> {
  readonly host: Host;
}

/**
 * How the agent starts that a single turn names and that only `runtimes.acp.agents` of the settings knows; undefined: squad knows the
 * runtime itself, and no settings are read. Throws `usage` for an unknown one, and `not-trusted` for a program of the repository without
 * consent.
 */
export async function turnRuntime(
  ports: TurnRuntimePorts,
  name: string,
  { repository, yes }: { readonly repository: RepositoryReport; readonly yes: boolean },
): Promise<Settings['runtimes'][string] | undefined> {
  if (Object.hasOwn(ports.runtimes, name)) return undefined;
  if (acpAgentIn(name) === undefined) refuseUnknownRuntime(ports.runtimes, name);
  const read = await readSettings(repository.root, ports, ports.host);
  const { runtimes } = read.settings;
  const chosen = runtimes[name];
  if (chosen === undefined) throw unknownRuntime(name, Object.keys({ ...ports.runtimes, ...runtimes }));
  const described = describeRuntimes(ports, runtimes);
  const named = read.repository.settings.runtimes[name];
  if (named !== undefined) {
    const settings = { ...defaultSettings(), runtimes: { [name]: named } };
    const items = itemsToTrust(settings, { file: '', criteria: [] }, read.repository, described);
    await agree(items, ports, { repository, yes });
  }
  return (await resolveRuntimes({ [name]: chosen }, described, repository.root, ports.host))[name];
}
