import { isAbsolute } from 'node:path';
import { sha256Of } from '../model/sha256.ts';
import type { Composition, Host } from '../compose.ts';
import type { Objective } from '../model/objective.ts';
import type { DescribedRuntimes } from '../model/runtime-description.ts';
import type { AgentSettings, Settings } from '../model/settings.ts';
import { SquadError } from '../model/errors.ts';
import { commandsOf } from '../playbooks/stages/list-facts.ts';
import { shellWord } from '../text/shell-word.ts';
import { listIn } from './list-choice.ts';
import { lineOf } from './read-input.ts';
import type { SettingsFile, SettingsRead } from './read-settings.ts';
import { isTrusted, rememberTrust, trustStoreOf } from './trust-store.ts';

/** A command from the objective or the repository that would run on this machine, as squad shows it. */
interface TrustedCommand {
  readonly from: 'setup' | 'verify' | 'notify' | 'stage' | 'criterion' | 'runtime';
  readonly run: string;
}

/** All commands, including a runtime's program and configuration, which can name programs too. */
export function commandsToTrust(settings: Settings, objective: Pick<Objective, 'criteria'>): TrustedCommand[] {
  const runtimes = Object.entries(settings.runtimes).flatMap(([name, { command, config }]) => [
    ...(command === undefined || command === name ? [] : [`${name}: ${command}`]),
    ...(config === undefined ? [] : [`${name} with ${JSON.stringify(config)}`]),
  ]);
  return [
    ...settings.setup.map(({ run }) => ({ from: 'setup' as const, run })),
    ...settings.verify.map(({ run }) => ({ from: 'verify' as const, run })),
    ...(settings.notify === undefined ? [] : [{ from: 'notify' as const, run: settings.notify }]),
    ...commandsOf(listIn(settings)).map((run) => ({ from: 'stage' as const, run })),
    ...objective.criteria.flatMap(({ command }) =>
      command === undefined ? [] : [{ from: 'criterion' as const, run: command }],
    ),
    ...runtimes.map((run) => ({ from: 'runtime' as const, run })),
  ];
}

/** Hash of a set of commands. Order and repetition do not matter; every character does. */
export function trustHash(commands: readonly string[]): string {
  const content = JSON.stringify(['squad-trust-1', ...[...new Set(commands)].sort()]);
  return sha256Of(content);
}

/** Something that a person has to consent to before a run, as squad shows it. */
export interface TrustItem {
  /** `agent`: what `squad.yaml` allows an agent beyond its own folder. `tracing`: what leaves this machine. */
  readonly from: TrustedCommand['from'] | 'agent' | 'tracing';
  readonly run: string;
  /** Its place: `objective.md:12`. */
  readonly where: string;
}

/** All commands and grants in the repository and the objective. */
export function itemsToTrust(
  settings: Settings,
  objective: Pick<Objective, 'file' | 'criteria'>,
  source: SettingsFile,
  described: DescribedRuntimes,
): TrustItem[] {
  const commands = commandsToTrust(settings, objective).map((command) => ({
    ...command,
    where: whereOf(command, objective, source),
  }));
  return [...commands, ...grantsOf(settings, source, described), ...tracingOf(settings, source)];
}

/** What the user's own file runs or opens here. Writing it there is the consent, so squad shows it and does not ask. */
export interface OwnCommands {
  readonly about: 'own-settings';
  readonly text: string;
  readonly next?: undefined;
}

export function ownCommands({ settings, repository, own }: SettingsRead, described: DescribedRuntimes): OwnCommands[] {
  if (own === undefined) return [];
  const said = (from: Settings, source: SettingsFile): string[] =>
    itemsToTrust(from, { file: '', criteria: [] }, source, described).map(({ from: kind, run }) => `${kind}: ${run}`);
  const asked = said(repository.settings, repository);
  const items = said(settings, own).filter((item) => !asked.includes(item));
  return items.length === 0 ? [] : [{ about: 'own-settings', text: `from ${own.file}: ${items.join('; ')}` }];
}

/** Of `squad.yaml`, where they are not called like what they name. */
const KEYS: Readonly<Record<string, string>> = { runtime: 'runtimes', stage: 'playbook' };

function whereOf(
  { from, run }: TrustedCommand,
  { file, criteria }: Pick<Objective, 'file' | 'criteria'>,
  { file: settingsFile, text }: SettingsFile,
): string {
  if (from === 'criterion') return `${file}:${criteria.find(({ command }) => command === run)?.line ?? 1}`;
  const key = KEYS[from] ?? from;
  return `${settingsFile}:${lineOf(text, new RegExp(`^${key}\\s*:`))}`;
}

/** A stranger's file must not send a person's work or keys anywhere. */
function tracingOf({ tracing }: Settings, { file, text }: SettingsFile): TrustItem[] {
  if (tracing === undefined) return [];
  const { to, endpoint, content, headers = {} } = tracing;
  const what = content ? 'prompts, answers, and what tools were given and gave back' : 'what happens in runs';
  const own = to === 'langsmith' ? 'the LangSmith of your LANGSMITH_API_KEY' : 'your OTEL_EXPORTER_OTLP_ENDPOINT';
  const variables = Object.values(headers).map((variable) => `the endpoint of traces gets the variable ${variable}`);
  const where = `${file}:${lineOf(text, /^tracing\s*:/)}`;
  return [`sends ${what} to ${endpoint ?? own}`, ...variables].map((run) => ({ from: 'tracing', run, where }));
}

type ServerSettings = NonNullable<AgentSettings['mcp']>[number];

/** A grant is as good as a program: a stranger's file must not open this machine or its secrets to an agent. */
function grantsOf({ agents, runtimes }: Settings, { file }: SettingsFile, described: DescribedRuntimes): TrustItem[] {
  const own = Object.values(described).flatMap(({ variables = [] }) => variables);
  const isOwn = (name: string) => NETWORK.test(name) || own.some((start) => name.toUpperCase().startsWith(start));
  const grant = (run: string): TrustItem => ({ from: 'agent', run, where: file });
  return [
    ...(agents ?? []).flatMap((agent) => grantsOfAgent(agent, isOwn).map(grant)),
    ...Object.entries(runtimes).flatMap(([name, { env }]) =>
      env.filter((variable) => !isOwn(variable)).map((variable) => grant(`${name} gets the variable ${variable}`)),
    ),
  ];
}

function grantsOfAgent(agent: AgentSettings, isOwn: (variable: string) => boolean): string[] {
  const { name, access, allow = [], network, skills = [], mcp = [], hooks = [], env = [], home } = agent;
  return [
    ...(access === 'full' ? [`${name} works without any confinement (access: full)`] : []),
    ...(network === true ? [`${name} may use the network (network: true)`] : []),
    ...(home === 'mine' ? [`${name} works with your own settings, memory and plugins (home: mine)`] : []),
    ...allow.map((tool) => `${name} may use ${tool}`),
    ...skills.filter((folder) => isAbsolute(folder)).map((folder) => `${name} reads the skill ${folder}`),
    ...mcp.flatMap((server) => serverGrants(name, server)),
    ...hooks.map(({ on, tool, run }) => `${name} runs on ${on}${tool === undefined ? '' : ` of ${tool}`}: ${run}`),
    ...env.filter((variable) => !isOwn(variable)).map((variable) => `${name} gets the variable ${variable}`),
  ];
}

/** A server's own variables are listed all: a stranger's server could send any of them away. */
function serverGrants(
  agent: string,
  { name, command, args = [], env = [], url, headers = {} }: ServerSettings,
): string[] {
  const how =
    command === undefined
      ? `uses the MCP server ${name} at ${url ?? ''}`
      : `starts the MCP server ${name}: ${[command, ...args].map(shellWord).join(' ')}`;
  const variables = [...env, ...Object.values(headers)];
  return [
    `${agent} ${how}`,
    ...variables.map((variable) => `the MCP server ${name} of ${agent} gets the variable ${variable}`),
  ];
}

/** Like a runtime's own variables, they are how it reaches its model. It would read them anyway. */
const NETWORK = /^(?:HTTPS?|NO|ALL)_PROXY$|^NODE_EXTRA_CA_CERTS$/i;

export interface TrustPorts extends Pick<Composition, 'clock'> {
  readonly host: Pick<Host, 'configHome'>;
  /** Shows the commands and asks for consent; absent if no person can answer. */
  confirm?(items: readonly TrustItem[]): Promise<boolean>;
}

/** The hash of the items, null if there are none. Throws `not-trusted` without consent. `yes`: for this run only, not stored. */
export async function agree(
  items: readonly TrustItem[],
  ports: TrustPorts,
  { repository, yes }: { readonly repository: string; readonly yes: boolean },
): Promise<string | null> {
  if (items.length === 0) return null;
  const store = trustStoreOf(ports.host);
  const hash = hashOf(items);
  if (yes || (await isTrusted(store, { hash, repository }))) return hash;
  if (ports.confirm === undefined) throw unanswered(items);
  if (!(await ports.confirm(items))) {
    throw notTrusted(items, 'you did not consent to these commands', 'Remove them from the file that names them.');
  }
  await rememberTrust(store, { hash, repository, at: ports.clock.now() });
  return hash;
}

function hashOf(items: readonly TrustItem[]): string {
  return trustHash(items.map(({ from, run }) => `${from}: ${run}`));
}

function unanswered(items: readonly TrustItem[]): SquadError {
  const next = "Read them, then run it again with `--yes`, or from a program with `trust: 'yes'`.";
  return notTrusted(items, 'these commands need your consent', next);
}

/**
 * The hash of the items if there is consent to them, and null otherwise: it neither asks nor stores. Throws `not-trusted` for a
 * program of the repository, which no check may start without.
 */
export async function consentTo(
  items: readonly TrustItem[],
  ports: Pick<TrustPorts, 'host'>,
  { repository, yes }: { readonly repository: string; readonly yes: boolean },
): Promise<string | null> {
  if (items.length === 0) return null;
  const hash = hashOf(items);
  if (yes || (await isTrusted(trustStoreOf(ports.host), { hash, repository }))) return hash;
  if (items.every(({ from }) => from !== 'runtime')) return null;
  throw unanswered(items);
}

function notTrusted(items: readonly TrustItem[], message: string, next: string): SquadError {
  return new SquadError({ code: 'not-trusted', message: [`${message}:`, ...trustLines(items)].join('\n'), next });
}

/** Lines for people. The text is untrusted: use `plainText` where it is shown. */
function trustLines(items: readonly TrustItem[]): string[] {
  return items.map(({ from, run, where }) => `${where}: ${from}: ${run}`);
}
