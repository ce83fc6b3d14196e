import { z } from 'zod';
import { sha256Of } from './sha256.ts';
import { hasNetwork } from './access.ts';
import { equipmentSettings } from './armory.ts';
import type { BoundAgent } from './run.ts';
import { HOOK_EVENTS } from './turn-request.ts';

const hash = z.string();

/** Equipment of one agent by name and hash. Programs read it from JSON output, so a change of it is a change of the API. */
export const armoryFactsSchema = z.strictObject({
  agent: z.string(),
  role: z.string(),
  runtime: z.string(),
  model: z.string().nullable(),
  access: z.enum(['read-only', 'edit', 'full']),
  /** Its shell reaches the network. */
  network: z.boolean(),
  effort: equipmentSettings.effort.unwrap().nullable(),
  /** `hash`: SHA-256 of the skill's content. */
  skills: z.array(z.strictObject({ name: z.string(), hash })),
  /** `hash`: of the command or URL and the names of its variables. The values of variables do not count. */
  mcp: z.array(z.strictObject({ name: z.string(), hash })),
  hooks: z.array(z.strictObject({ on: z.enum(HOOK_EVENTS), tool: z.string().nullable(), hash })),
  /** Files of the repository that its servers and hooks run. */
  files: z.array(z.strictObject({ path: z.string(), hash })),
  deny: z.array(z.string()),
  /** Names of variables. */
  env: z.array(z.string()),
  home: z.literal('mine').nullable(),
  ask: z.literal('human').nullable(),
  /** Covers all fields above and the agent's instructions. */
  hash,
});
export type ArmoryFacts = z.infer<typeof armoryFactsSchema>;

export function armoryFactsOf(bound: BoundAgent): ArmoryFacts {
  const { name, role, runtime, model, access, effort, home, ask } = bound;
  const { skills = [], mcp = [], hooks = [], files = [], deny = [], env = [] } = bound;
  return {
    agent: name,
    role,
    runtime,
    model: model ?? null,
    access: access.level,
    network: hasNetwork(access),
    effort: effort ?? null,
    skills: skills.map((skill) => ({ name: skill.name, hash: skill.hash })),
    mcp: mcp.map((server) => ({ name: server.name, hash: hashOf(server) })),
    hooks: hooks.map((hook) => ({ on: hook.on, tool: hook.tool ?? null, hash: hashOf(hook) })),
    files: files.map(({ path, hash: content }) => ({ path, hash: content })),
    deny,
    env,
    home: home ?? null,
    ask: ask ?? null,
    hash: hashOf(bound),
  };
}

function hashOf(value: unknown): string {
  return sha256Of(JSON.stringify(value));
}

/** An agent's settings besides role, runtime and model, in words for a person; undefined: it has none. */
export function equipmentOf(agent: BoundAgent): string[] | undefined {
  const { skills = [], mcp = [], hooks = [], deny = [], env = [], effort, access, home, ask } = agent;
  const said = [
    ...skills.map(({ name }) => `skill ${name}`),
    ...mcp.map(({ name }) => `MCP server ${name}`),
    ...hooks.map(({ on, tool }) => `hook on ${on}${tool === undefined ? '' : ` of ${tool}`}`),
    ...(effort === undefined ? [] : [`effort ${effort}`]),
    ...(access.level === 'edit' && access.network === true ? ['network'] : []),
    ...deny.map((rule) => `without ${rule}`),
    ...env.map((name) => `variable ${name}`),
    ...(home === undefined ? [] : ['your own home']),
    ...(ask === undefined ? [] : ['asks a person']),
  ];
  return said.length === 0 ? undefined : said;
}
