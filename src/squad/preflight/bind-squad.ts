import type { Composition, Host } from '../../engine/compose.ts';
import { usageError } from '../../model/errors.ts';
import type { Locale } from '../../model/locale.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import type { AgentSettings } from '../../model/settings.ts';
import { noSuch } from '../../model/unknown-name.ts';
import type { ChangedPrompts } from '../../prompts/render.ts';
import { type Armory, openArmory } from './bind-armory.ts';
import { lineOf, problemError, readInstructions } from './read-input.ts';
import { fileOf, type SettingsFile, type SettingsRead } from './read-settings.ts';
import { renderInstructions, roleIn } from './roles.ts';
import { bindAgent, castOf, onRuntime, rosterOf } from './roster.ts';
import {
  createProbes,
  findRuntimes,
  refuseUnknownRuntime,
  refuseUnusable,
  refuseWithoutFiles,
  resolveRuntimes,
} from './runtimes.ts';
import { newerNote, type NewerNote } from './newer-notes.ts';
import { type StandInNote, standInNotes } from './stand-ins.ts';
import { refuseUnsupported } from './unsupported.ts';

/** By agent or role. An agent's name counts before its role. */
type Models = Readonly<Record<string, string>>;

interface SquadPlace {
  readonly root: string;
  readonly read: SettingsRead;
  readonly described: DescribedRuntimes;
  readonly redactor: Redactor;
  /** Bodies of prompts that the repository has changed. */
  readonly prompts?: ChangedPrompts;
  /** For each agent, after its instructions. */
  readonly adds?: string | undefined;
}

/** The roster: each agent with its instructions, on a runtime that works here. */
export async function bindSquad(
  ports: Pick<Composition, 'runtime' | 'taskCage'> & { readonly host: Host },
  request: { readonly runtime?: string | undefined; readonly models?: Models | undefined },
  playbook: Playbook<unknown>,
  { root, read, described, redactor, prompts = {}, adds }: SquadPlace,
): Promise<
  Pick<RunDefinition, 'agents' | 'runtimes'> & {
    readonly armory: Armory;
    readonly notes: readonly (StandInNote | NewerNote)[];
  }
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
  const used = new Set(squad.map((agent) => agent.runtime));
  for (const name of used) await refuseWithoutFiles(name, described[name] ?? {}, runtimes, fileOf(read, 'runtimes'));
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
    const whole = adds === undefined ? instructions : `${instructions}\n\n${adds}`;
    bound.push({ ...bindAgent(agent, whole), ...(await armory.bind(agent)) });
  }
  await refuseUnsupported(ports, { agents: bound, runtimes, root }, armory);
  const notes: (StandInNote | NewerNote)[] = await standInNotes(ports, {
    agents: bound,
    runtimes,
    described,
    probeOf,
    root,
  });
  for (const name of used) notes.push(...newerNote(name, await probeOf(name)));
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

/**
 * Gives agents without a model one from the settings. Throws `bad-input` for an unknown name, unless only the user's own file has it.
 * `mayLack`: the settings were written for other roles, so an unknown name is no mistake.
 */
function withSettingsModels(
  roster: readonly AgentSettings[],
  read: SettingsRead,
  { mayLack = false }: { readonly mayLack?: boolean } = {},
): AgentSettings[] {
  const { models } = read.settings;
  const ofRepository = read.repository.settings.models;
  for (const name of Object.keys(models)) {
    const why = problemWith(name, roster);
    if (why === undefined || (why.isUnknown && (mayLack || !Object.hasOwn(ofRepository, name)))) continue;
    const { file, text } = fileOf(read, 'models');
    const message = `models.${name}: ${why.text}`;
    throw problemError([{ file, line: lineOf(text, 'models'), message, example: 'models: { planner: opus }' }]);
  }
  return roster.map((agent) => ({ ...withModel(agent, models), ...(agent.model && { model: agent.model }) }));
}

/** The roster with the models of the command line. Throws `usage` for a name that neither an agent nor a role has. */
function withGivenModels(roster: readonly AgentSettings[], models: Models): AgentSettings[] {
  for (const name of Object.keys(models)) {
    const why = problemWith(name, roster);
    if (why !== undefined) throw usageError(`--model ${name}=…: ${why.text}`, nextFor(roster));
  }
  return roster.map((agent) => withModel(agent, models));
}

function withModel(agent: AgentSettings, models: Models): AgentSettings {
  const model = [agent.name, agent.role].map((key) => (Object.hasOwn(models, key) ? models[key] : undefined));
  const [found] = model.filter((name) => name !== undefined);
  return found === undefined ? agent : { ...agent, model: found };
}

/** Why a model cannot be given to this name. A model's name belongs to one runtime. */
function problemWith(name: string, roster: readonly AgentSettings[]) {
  if (roster.some((agent) => agent.name === name)) return undefined;
  const agents = roster.filter(({ role }) => role === name);
  const known = [...new Set(roster.flatMap((agent) => [agent.name, agent.role]))];
  if (agents.length === 0) return { isUnknown: true, text: noSuch('agent or role', name, known) };
  if (new Set(agents.map(({ runtime }) => runtime)).size === 1) return undefined;
  const on = agents.map((agent) => `${agent.name} (${agent.runtime})`).join(', ');
  return {
    isUnknown: false,
    text: `the role is on several runtimes, which have models of their own; name one of ${on}`,
  };
}

function nextFor(roster: readonly AgentSettings[]): string {
  return `This run has ${roster.map(({ name, role }) => `${name} (${role})`).join(', ')}. For example \`--model ${roster[0]?.name}=opus\`.`;
}
