import { z } from 'zod';
import type { Finding } from '../../text/explain-issue.ts';
import { asObject, isJsonObject, type Json } from '../../text/json.ts';
import { jsonSchema } from '../../text/json-schema.ts';
import { namedAgents } from '../../model/acp-agents.ts';
import { KEEP_EXAMPLE } from '../../model/keep.ts';
import { ACP } from '../../model/runtime-name.ts';
import { DEFAULT_PLAYBOOK } from '../../model/playbook-name.ts';
import { SERVE_EXAMPLE } from '../../model/shared-limits.ts';
import { settingsSchema, settingsSchemaFor, type KnownNames, type Settings } from '../../model/settings.ts';
import { agentFindings, finding } from './agent-findings.ts';
import { FORGE_EXAMPLE } from '../../model/forge/settings.ts';
import { ACTIONS_EXAMPLE, CHANNELS_EXAMPLE } from '../../model/people/settings.ts';
import { SCHEDULES_EXAMPLE } from '../../model/schedule.ts';
import { channelFindings } from './channel-findings.ts';
import { channelSecretFindings } from './channel-secrets.ts';
import { scheduleFindings } from './schedule-findings.ts';
import { parseYaml, type YamlResult } from '../../text/yaml-file.ts';

const EXAMPLES: Readonly<Record<string, string>> = {
  '': 'version: 1\nlimits: { minutes: 480 }',
  version: 'version: 1',
  playbook: `playbook: ${DEFAULT_PLAYBOOK}`,
  agents: 'agents:\n  - { name: builder-1, role: builder, runtime: claude, access: edit }',
  runtimes: 'runtimes:\n  claude: { command: claude, env: [ANTHROPIC_API_KEY], fallback: codex }',
  limits: 'limits: { minutes: 480, usd: 20, turns: 200, parallel: 6 }',
  setup: 'setup:\n  - { run: "npm ci", minutes: 10 }',
  verify: 'verify:\n  - { run: "npm test", minutes: 10 }',
  keep: KEEP_EXAMPLE,
  plan: 'plan: ask',
  notify: 'notify: notify-send squad "$SQUAD_TEXT"',
  publish: 'publish: { remote: origin, base: main, pr: false }',
  tracing: 'tracing: { to: otlp, endpoint: "http://localhost:4318/v1/traces", content: false }',
  serve: SERVE_EXAMPLE,
  team: 'team: { members: 4, windowName: "team-{session}-{role}" }',
  mail: 'mail: { locale: en, ttlMinutes: 1440 }',
  schedules: SCHEDULES_EXAMPLE,
  channels: CHANNELS_EXAMPLE,
  actions: ACTIONS_EXAMPLE,
  forge: FORGE_EXAMPLE,
  repositories: 'repositories:\n  - { path: ../api, role: the service that this client calls }',
  models: 'models: { planner: opus, builder-1: sonnet }',
};

const OWN_FORGE = 'this file is for all repositories; forge belongs in the squad.yaml of one';
const OWN_REPOSITORIES = 'this file is for all repositories; repositories belong in the squad.yaml of one';
const OWN_ACTIONS = 'this file is for all repositories; actions belong in the squad.yaml of one';

/** Keys under `limits.task` that limits of the run already set for each task. */
const HINTS = {
  rounds: 'set limits.reviewRounds, which holds for each task',
  reviewRounds: 'set limits.reviewRounds, which holds for each task',
  retries: 'set limits.retries, which holds for each task',
};

/**
 * Parses the text of a settings file into settings with all defaults, or into all its problems in the file's order. `own`: it is
 * the user's, for all repositories.
 */
export function parseSettings(
  text: string,
  fileName: string,
  known: KnownNames,
  whose: 'repository' | 'own' = 'repository',
): YamlResult<Settings> {
  const ofSections = Object.entries(known.sections).map(([name, { example }]) => [name, example]);
  const examples = { ...EXAMPLES, ...Object.fromEntries(ofSections) };
  const source = { file: fileName, text, firstLine: 1, examples, hints: HINTS };
  return parseYaml(source, settingsSchemaFor(withAgents(known, rawSettings(text))), (raw) => [
    ...agentFindings(raw['agents'], whose),
    ...ownFallbacks(raw['runtimes']),
    ...(raw['schedules'] === undefined ? [] : scheduleFindings(raw['schedules'], whose)),
    ...(raw['channels'] === undefined ? [] : channelFindings(raw['channels'], whose)),
    ...(raw['actions'] === undefined || whose === 'repository' ? [] : [finding(['actions'], OWN_ACTIONS)]),
    ...(raw['forge'] === undefined || whose === 'repository' ? [] : [finding(['forge'], OWN_FORGE)]),
    ...(raw['repositories'] === undefined || whose === 'repository'
      ? []
      : [finding(['repositories'], OWN_REPOSITORIES)]),
    ...(raw['channels'] === undefined ? [] : channelSecretFindings(raw)),
    ...(isJsonObject(raw['playbook']) ? known.checkList(raw['playbook'], rolesIn(raw['agents'])) : []),
    ...(whose === 'own' ? relativePrograms(raw['runtimes'], known) : []),
  ]);
}

/** The roles of the agents that a file names; undefined: it names none, or one of them has no role. */
function rolesIn(agents: Json | undefined): string[] | undefined {
  const roles = Array.isArray(agents) ? agents.map((agent) => asObject(agent)['role']) : [];
  const named = roles.filter((role) => typeof role === 'string');
  return named.length === 0 || named.length < roles.length ? undefined : named;
}

/** With the runtimes that these settings add. */
export function withAgents(known: KnownNames, raw: RawSettings): KnownNames {
  return { ...known, runtimes: [...new Set([...known.runtimes, ...namedAgents(raw)])] };
}

/** As a settings file has them, without defaults. */
export type RawSettings = Readonly<Record<string, unknown>>;

/** Reads a text that was parsed before. */
export function rawSettings(text: string): RawSettings {
  const source = { file: '', text, firstLine: 1, examples: {}, hints: {} };
  const read = parseYaml(source, z.record(z.string(), jsonSchema));
  return read.ok ? read.value : {};
}

/** The settings without a `squad.yaml`. */
export function defaultSettings(): Settings {
  return settingsSchema.parse({});
}

function ownFallbacks(runtimes: Json | undefined): Finding[] {
  if (!isJsonObject(runtimes)) return [];
  return Object.entries(runtimes)
    .filter(([name, runtime]) => isJsonObject(runtime) && runtime['fallback'] === name)
    .map(([name]) => ({
      path: ['runtimes', name, 'fallback'],
      message: `runtimes.${name}.fallback: a runtime cannot stand in for itself; name another one or leave it out`,
    }));
}

/** A program of the repository would be another one in each, and run without a question. */
function relativePrograms(runtimes: Json | undefined, { configFiles = {} }: KnownNames): Finding[] {
  if (!isJsonObject(runtimes)) return [];
  const acp = runtimes[ACP];
  const agents = Object.entries(isJsonObject(acp) && isJsonObject(acp['agents']) ? acp['agents'] : {});
  return [
    ...agents.flatMap(([name, agent]) => relativeProgram([ACP, 'agents', name], agent)),
    ...Object.entries(runtimes).flatMap(([name, runtime]) => relativeProgram([name], runtime, configFiles[name])),
  ];
}

function relativeProgram(at: string[], runtime: Json, configFiles: readonly string[] = []): Finding[] {
  const { command, config } = isJsonObject(runtime) ? runtime : {};
  const isPath = typeof command === 'string' && command.includes('/');
  const files = configFiles.map((key): [string[], unknown] => [
    ['runtimes', ...at, 'config', key],
    isJsonObject(config) ? config[key] : undefined,
  ]);
  return [
    ...relativePath(['runtimes', ...at, 'command'], isPath ? command : ''),
    ...files.flatMap((file) => relativePath(...file)),
  ];
}

function relativePath(path: string[], value: unknown): Finding[] {
  if (typeof value !== 'string' || value === '' || value.startsWith('/')) return [];
  const message = `${path.join('.')}: this file is for all repositories, so it needs an absolute path`;
  return [{ path, message }];
}
