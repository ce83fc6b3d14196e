import { isSlug } from './slug.ts';

/** The runtimes that come with squad, in order of preference. An application that embeds it registers more. */
export const BUILT_IN_RUNTIMES = ['claude', 'codex', 'antigravity', 'scripted'] as const;

/** Prefix of runtimes that are agents of the Agent Client Protocol: `acp/<agent>`. */
export const ACP = 'acp';

/** The agents of the Agent Client Protocol that squad can start by itself; settings name more. */
export const ACP_AGENTS = ['gemini', 'copilot', 'opencode', 'qwen', 'kimi', 'antigravity'] as const;
export type AcpAgent = (typeof ACP_AGENTS)[number];

/** All that people may name without a setting. */
export const KNOWN_RUNTIMES: readonly string[] = [...BUILT_IN_RUNTIMES, ...ACP_AGENTS.map(acpRuntime)];

export function acpRuntime(agent: string): string {
  return `${ACP}/${agent}`;
}

/** The agent in a runtime's name; undefined: no agent of the Agent Client Protocol. */
export function acpAgentIn(runtime: string): string | undefined {
  const [kind, agent, ...rest] = runtime.split('/');
  return kind === ACP && agent !== undefined && isSlug(agent) && rest.length === 0 ? agent : undefined;
}

/** Whether a text can name a runtime: like a slug, or `acp/` and a slug. */
export function isRuntimeName(text: string): boolean {
  return isSlug(text) || acpAgentIn(text) !== undefined;
}

/** Whether a runtime can be made here. Any agent can, because settings say how it starts. */
export function isRegistered(runtimes: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(runtimes, name) || acpAgentIn(name) !== undefined;
}
