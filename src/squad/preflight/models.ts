import { usageError } from '../../model/errors.ts';
import type { AgentSettings } from '../../model/settings.ts';
import { noSuch } from '../../model/unknown-name.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/** By agent or role. An agent's name counts before its role. */
export type Models = Readonly<Record<string, string>>;

/**
 * Gives agents without a model one from the settings. Throws `bad-input` for an unknown name, unless only the user's own file has it.
 * `mayLack`: the settings were written for other roles, so an unknown name is no mistake.
 */
export function withSettingsModels(
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
    throw problemError([{ file, line: lineOf(text, /^models\s*:/), message, example: 'models: { planner: opus }' }]);
  }
  return roster.map((agent) => ({ ...withModel(agent, models), ...(agent.model && { model: agent.model }) }));
}

/** The roster with the models of the command line. Throws `usage` for a name that neither an agent nor a role has. */
export function withGivenModels(roster: readonly AgentSettings[], models: Models): AgentSettings[] {
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
