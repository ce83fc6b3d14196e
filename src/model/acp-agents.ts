import { isJsonObject } from '../text/json.ts';
import { ACP, acpRuntime } from './runtime-name.ts';
import { isSlug } from './slug.ts';

type Mapping = Readonly<Record<string, unknown>>;

/** The runtimes that `runtimes.acp.agents` of a settings file adds, as it is written there. */
export function namedAgents(raw: Mapping): string[] {
  return Object.keys(agentsIn(raw['runtimes'])).filter(isSlug).map(acpRuntime);
}

function agentsIn(runtimes: unknown): Mapping {
  const acp = isJsonObject(runtimes) ? runtimes[ACP] : undefined;
  const agents = isJsonObject(acp) ? acp['agents'] : undefined;
  return isJsonObject(agents) ? agents : {};
}

/** The agents of two files: their names are merged one by one. */
export function mergeAgents(own: Mapping, repository: Mapping): Mapping {
  const agents = { ...agentsIn(own['runtimes']), ...agentsIn(repository['runtimes']) };
  return Object.keys(agents).length === 0 ? {} : { [ACP]: { agents } };
}

interface Agent {
  readonly command: string;
  readonly env: readonly string[];
}

interface Runtime {
  readonly env: readonly string[];
  readonly config?: object | undefined;
}

type Named = { readonly [ACP]?: { readonly agents: Readonly<Record<string, Agent>> } } & Readonly<
  Record<string, Runtime | undefined>
>;

/** Each agent as a runtime of its own. What the settings say of that runtime by its whole name counts more. */
export function spreadAgents(named: object): Record<string, unknown> {
  const { [ACP]: acp, ...runtimes } = named as Named;
  const spread = Object.entries(acp?.agents ?? {}).map(([agent, { command, env, ...config }]) => {
    const name = acpRuntime(agent);
    const own = runtimes[name];
    const said = { command, ...own, env: [...new Set([...env, ...(own?.env ?? [])])] };
    return [name, { ...said, config: { ...config, ...own?.config } }] as const;
  });
  return { ...runtimes, ...Object.fromEntries(spread) };
}
