import type { Composition, Host } from '../../engine/compose.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import type { AgentSettings } from '../../model/settings.ts';
import { withGivenModels, withSettingsModels, type Models } from './models.ts';
import { readInstructions } from './read-input.ts';
import { fileOf, type SettingsFile, type SettingsRead } from './read-settings.ts';
import type { ChangedPrompts } from '../../prompts/render.ts';
import type { Locale } from '../../model/locale.ts';
import { renderInstructions, roleIn } from './roles.ts';
import { openArmory, type Armory } from './bind-armory.ts';
import { refuseUnsupported } from './unsupported.ts';
import { standInNotes, type StandInNote } from './stand-ins.ts';
import { bindAgent, castOf, onRuntime, rosterOf } from './roster.ts';
import {
  createProbes,
  findRuntimes,
  refuseUnknownRuntime,
  refuseUnusable,
  refuseWithoutFiles,
  resolveRuntimes,
} from './runtimes.ts';

interface SquadPlace {
  readonly root: string;
  readonly read: SettingsRead;
  readonly described: DescribedRuntimes;
  readonly redactor: Redactor;
  /** Bodies of prompts that the repository has changed. */
  readonly prompts?: ChangedPrompts;
}

/** The roster: each agent with its instructions, on a runtime that works here. */
export async function bindSquad(
  ports: Pick<Composition, 'runtime' | 'taskCage'> & { readonly host: Host },
  request: { readonly runtime?: string | undefined; readonly models?: Models | undefined },
  playbook: Playbook<unknown>,
  { root, read, described, redactor, prompts = {} }: SquadPlace,
): Promise<
  Pick<RunDefinition, 'agents' | 'runtimes'> & { readonly armory: Armory; readonly notes: readonly StandInNote[] }
> {
  const { host } = ports;
  const runtimes = await resolveRuntimes(read.settings.runtimes, described, root, host);
  const probeOf = createProbes(ports, runtimes);
  const { agents, team } = read.settings;
  const { runtime } = request;
  refuseUnknownRuntime(described, runtime);
  const found = async () => (runtime === undefined ? findRuntimes(described, probeOf) : [runtime]);
  const cast = async () => castOf(playbook, { runtimes: await found(), members: team.members });
  const roster = await rosterOf(playbook, agents, cast);
  // The models of the settings belong to the runtimes there.
  const placed = runtime === undefined ? withModelsOf(read, roster, playbook) : onRuntime(roster, runtime);
  const squad = withGivenModels(placed, request.models ?? {});
  for (const name of new Set(squad.map((agent) => agent.runtime))) {
    await refuseWithoutFiles(name, described[name] ?? {}, runtimes, fileOf(read, 'runtimes'));
  }
  await refuseUnusable(squad, runtimes, probeOf);
  const source = fileOf(read, 'agents');
  const armory = openArmory({ root, host, redactor, source, agents: agents ?? [] });
  const bound: BoundAgent[] = [];
  for (const agent of squad) {
    const instructions = await instructionsOf(agent, playbook, root, {
      ...source,
      locale: read.settings.mail.locale,
      prompts,
    });
    bound.push({ ...bindAgent(agent, instructions), ...(await armory.bind(agent)) });
  }
  await refuseUnsupported(ports, { agents: bound, runtimes, root }, armory);
  const notes = await standInNotes(ports, { agents: bound, runtimes, described, probeOf, root });
  return { agents: bound, runtimes, armory, notes };
}

/** `models` may also name agents that do not play. */
function withModelsOf(
  read: SettingsRead,
  roster: readonly AgentSettings[],
  { castsEachRole }: Playbook<unknown>,
): AgentSettings[] {
  const others = (read.settings.agents ?? []).filter((agent) => !roster.includes(agent));
  return withSettingsModels([...roster, ...others], read, { mayLack: castsEachRole === true }).slice(0, roster.length);
}

async function instructionsOf(
  agent: AgentSettings,
  playbook: Playbook<unknown>,
  root: string,
  {
    file,
    text: settingsText,
    locale,
    prompts,
  }: SettingsFile & { readonly locale: Locale; readonly prompts: ChangedPrompts },
): Promise<string> {
  const { instructions: path } = agent;
  const role = roleIn(playbook, agent.role);
  if (path === undefined) return renderInstructions(agent, role, undefined, { locale, prompts });
  const line = settingsText.split('\n').findIndex((text) => text.includes('instructions') && text.includes(path));
  const at = { file, line: Math.max(line, 0) + 1 };
  const text = await readInstructions(root, path, at);
  // Where the playbook brings the roles, they are what the person asked for.
  return renderInstructions(agent, role, { path, text, adds: playbook.castsEachRole === true }, { locale, prompts });
}
