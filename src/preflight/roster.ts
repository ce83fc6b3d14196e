import { SquadError } from '../model/errors.ts';
import { addressOf } from '../model/mail/address.ts';
import { MAIN } from '../model/mail/vocabulary.ts';
import type { BoundAgent, RunDefinition } from '../model/run.ts';
import { defined } from '../text/defined.ts';
import type { RuntimeName } from '../model/runtime-name.ts';
import type { AgentSettings, Settings } from '../model/settings.ts';

/** One planner, and a builder and a reviewer on every runtime, so that a reviewer is never the author. */
export function defaultRoster(runtimes: readonly RuntimeName[]): AgentSettings[] {
  const [first] = runtimes;
  if (first === undefined) return [];
  const onEach = (role: string, access: AgentSettings['access']): AgentSettings[] =>
    runtimes.map((runtime, index) => ({ name: `${role}-${index + 1}`, role, runtime, access }));
  return [
    { name: 'planner', role: 'planner', runtime: first, access: 'read-only' },
    ...onEach('builder', 'edit'),
    ...onEach('reviewer', 'read-only'),
  ];
}

/** The default roster for a playbook. `members`: the number of council members. */
export function rosterFor(playbook: string, runtimes: readonly RuntimeName[], members: number): AgentSettings[] {
  return playbook === 'council' ? councilRoster(runtimes, members) : defaultRoster(runtimes);
}

/** MAIN and members `a`, `b`, …. Members get the other runtimes first, so that different models review each other. */
function councilRoster(runtimes: readonly RuntimeName[], members: number): AgentSettings[] {
  const [first] = runtimes;
  if (first === undefined) return [];
  const letters = Array.from({ length: members }, (_none, index) => String.fromCodePoint(0x61 + index));
  return [
    { name: 'main', role: 'main', runtime: first, access: 'edit' },
    ...letters.map((name, index): AgentSettings => {
      const runtime = runtimes[(index + 1) % runtimes.length] ?? first;
      return { name, role: 'member', runtime, access: 'edit' };
    }),
  ];
}

/** All agents on one runtime. Names of models and tools belong to a runtime, so an agent that moves loses its own. */
export function onRuntime(agents: readonly AgentSettings[], runtime: RuntimeName): AgentSettings[] {
  return agents.map((agent) => {
    if (agent.runtime === runtime) return agent;
    const { model: _model, allow: _allow, ...rest } = agent;
    return { ...rest, runtime };
  });
}

/** One agent with everything it is bound to. */
export function bindAgent(
  agent: AgentSettings,
  instructions: string,
  roster: readonly AgentSettings[],
  runtimes: Settings['runtimes'],
): BoundAgent {
  const { name, role, runtime, model, allow, commits, limits } = agent;
  const fallback = fallbackOf(agent, roster, runtimes);
  const access = { level: agent.access };
  // One login per runtime: its agents share a usage limit.
  const account = runtime;
  return defined({ name, role, runtime, model, access, commits, instructions, allow, limits, account, fallback });
}

/** The agent with the same role on the fallback runtime. Several share the load. */
function fallbackOf(
  agent: AgentSettings,
  roster: readonly AgentSettings[],
  runtimes: Settings['runtimes'],
): string | undefined {
  const standIn = runtimes[agent.runtime]?.fallback;
  const of = (runtime: RuntimeName | undefined) =>
    roster.filter((other) => other.role === agent.role && other.runtime === runtime);
  const others = of(standIn);
  const index = of(agent.runtime).findIndex(({ name }) => name === agent.name);
  return others.length === 0 ? undefined : others[index % others.length]?.name;
}

/** Throws `bad-input` for a route from or to an address or role that this run does not have. */
export function refuseLostRoutes({ agents, mail }: Pick<RunDefinition, 'agents' | 'mail'>, line: number): void {
  const known = [...new Set([MAIN, ...agents.flatMap((agent) => [agent.name, addressOf(agent), agent.role])])];
  const named = Object.entries(mail.routes ?? {}).flatMap(([from, to]) =>
    [from, ...to].map((name) => ({ from, name })),
  );
  const lost = named.find(({ name }) => !known.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (lost === undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `squad.yaml:${line}: mail.routes.${lost.from}: no agent or role is called ${lost.name}`,
    next: `Name an agent or a role of this run: ${known.join(', ')}.`,
  });
}
