import { badInput, SquadError } from '../../model/errors.ts';
import { addressOf } from '../../model/mail/address.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { CastSource, Playbook } from '../../model/plan.ts';
import type { BoundAgent, RunDefinition } from '../../model/run.ts';
import { defined } from '../../text/defined.ts';
import type { AgentSettings } from '../../model/settings.ts';
import { isSlug, numbered } from '../../model/slug.ts';
import { lineOf } from './read-input.ts';
import type { SettingsFile } from './read-settings.ts';

/**
 * The agents of a run whose settings name none: the playbook's own cast, or one agent for each of its roles. Throws `bad-input` for
 * a cast that no run can have.
 */
export function castOf(
  playbook: Pick<Playbook<never>, 'name' | 'roles' | 'cast'>,
  source: CastSource,
): AgentSettings[] {
  if (source.runtimes.length === 0) return [];
  const agents = playbook.cast?.(source) ?? oneForEach(playbook.roles, source.runtimes);
  const wrong = agents.find(
    ({ name, role }, index) =>
      !isSlug(name) || !isSlug(role) || agents.findIndex((other) => other.name === name) !== index,
  );
  if (wrong === undefined) return agents;
  throw badInput(
    `the playbook ${playbook.name} casts an agent ${JSON.stringify(wrong.name)} for ${JSON.stringify(wrong.role)}`,
    'Agents need names of their own. A name or role has lower-case letters, digits and dashes, at most 32.',
  );
}

/** The agents that play: those of `squad.yaml`, and for a playbook that casts each of its roles, its own where those lack one. */
export async function rosterOf(
  { roles, castsEachRole }: Pick<Playbook<never>, 'roles' | 'castsEachRole'>,
  agents: readonly AgentSettings[] | undefined,
  cast: () => Promise<AgentSettings[]>,
): Promise<readonly AgentSettings[]> {
  if (agents === undefined) return cast();
  if (castsEachRole !== true) return agents;
  const playing = agents.filter(({ role }) => Object.hasOwn(roles, role));
  const staffed = new Set(playing.map(({ role }) => role));
  if (Object.keys(roles).every((role) => staffed.has(role))) return playing;
  const names = new Set(playing.map(({ name }) => name));
  const others = (await cast()).filter(({ role }) => !staffed.has(role));
  return [...playing, ...others.map((agent) => ({ ...agent, name: freeName(agent.name, names) }))];
}

/** The name, or one like it that no other agent has. */
function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = numbered(wanted, number);
  taken.add(name);
  return name;
}

function oneForEach(roles: Playbook<never>['roles'], runtimes: readonly string[]): AgentSettings[] {
  return Object.entries(roles).map(([role, { delivers }], index) => {
    const access = delivers === 'none' ? 'read-only' : 'edit';
    return { name: role, role, runtime: runtimes[index % runtimes.length] ?? '', access };
  });
}

/** All agents on one runtime. Names of models and tools belong to a runtime, so an agent that moves loses its own. */
export function onRuntime(agents: readonly AgentSettings[], runtime: string): AgentSettings[] {
  return agents.map((agent) => {
    if (agent.runtime === runtime) return agent;
    const { model: _model, allow: _allow, ...rest } = agent;
    return { ...rest, runtime };
  });
}

/** One agent with everything it is bound to. */
export function bindAgent(agent: AgentSettings, instructions: string): BoundAgent {
  const { name, role, runtime, model, allow, commits, limits } = agent;
  const access = accessOf(agent);
  // One login per runtime: its agents share a usage limit.
  const account = runtime;
  return defined({ name, role, runtime, model, access, commits, instructions, allow, limits, account });
}

function accessOf({ access: level, network }: AgentSettings): BoundAgent['access'] {
  return level === 'edit' && network === true ? { level, network } : { level };
}

/** Throws `bad-input` for a route from or to an address or role that neither this run nor `agents` has: not all of those may play. */
export function refuseLostRoutes(
  { agents, mail }: Pick<RunDefinition, 'agents' | 'mail'>,
  { file, text }: SettingsFile,
  others: readonly AgentSettings[] = [],
): void {
  const namesOf = (of: readonly Pick<AgentSettings, 'name' | 'role'>[]): string[] => [
    ...new Set([MAIN, ...of.flatMap((agent) => [agent.name, addressOf(agent), agent.role])]),
  ];
  const playing = namesOf(agents);
  const known = [...playing, ...namesOf(others)];
  const named = Object.entries(mail.routes ?? {}).flatMap(([from, to]) =>
    [from, ...to].map((name) => ({ from, name })),
  );
  const lost = named.find(({ name }) => !known.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (lost === undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `${file}:${lineOf(text, 'mail')}: mail.routes.${lost.from}: no agent or role is called ${lost.name}`,
    next: `Name an agent or a role of this run: ${playing.join(', ')}.`,
  });
}
