import { isAbsolute } from 'node:path';
import { followOf } from '../../model/forge/follow-settings.ts';
import type { Objective } from '../../model/objective.ts';
import type { DescribedRuntimes } from '../../model/runtime-description.ts';
import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import { readHook, type Reading, readServer } from '../../model/read-equipment.ts';
import { commandsOf } from '../../playbooks/stages/list-facts.ts';
import { stepsOf } from '../../model/repositories.ts';
import { pathsOf } from '../../model/setup-step.ts';
import { isJsonObject, type Json } from '../../text/json.ts';
import { shellWord } from '../../text/shell-word.ts';
import { listIn } from './list-choice.ts';
import { lineOf } from './read-input.ts';
import { sourceOf, type SettingsFile, type SettingsRead } from './read-settings.ts';
import type { TrustedCommand, TrustItem } from './trust-item.ts';

/** All commands, including a runtime's program and configuration, which can name programs too. */
export function commandsToTrust(
  settings: Settings,
  objective: Pick<Objective, 'criteria'>,
  list = listIn(settings),
): TrustedCommand[] {
  const runtimes = Object.entries(settings.runtimes).flatMap(([name, { command, config }]) => [
    ...(command === undefined || command === name ? [] : [`${name}: ${command}`]),
    ...(config === undefined ? [] : configLines(config).map((line) => `${name} with config.${line}`)),
  ]);
  return [
    ...settings.setup.map(({ run }) => ({ from: 'setup' as const, run })),
    ...settings.verify.map(({ run }) => ({ from: 'verify' as const, run })),
    ...(settings.notify === undefined ? [] : [{ from: 'notify' as const, run: settings.notify }]),
    ...commandsOf(list).map((run) => ({ from: 'stage' as const, run })),
    ...objective.criteria.flatMap(({ command }) =>
      command === undefined ? [] : [{ from: 'criterion' as const, run: command }],
    ),
    ...runtimes.map((run) => ({ from: 'runtime' as const, run })),
  ];
}

/** Each value of a runtime's configuration by itself, so that none hides in a long line. */
function configLines(config: Readonly<Record<string, Json>>): string[] {
  return Object.entries(config).flatMap(([name, value]) => {
    const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
    return isJsonObject(value) && Object.keys(value).length > 0
      ? configLines(value).map((line) => `${key}.${line}`)
      : [`${key} = ${JSON.stringify(value)}`];
  });
}

/** All commands and grants in the repository and the objective, but for limits. `list`: the stages, if not as the settings have them. */
export function itemsToTrust(
  settings: Settings,
  objective: Pick<Objective, 'file' | 'criteria'>,
  source: SettingsFile,
  described: DescribedRuntimes,
  list = listIn(settings),
): TrustItem[] {
  const all = settings.repositories.length === 0 ? settings : stepsOf(settings);
  const commands = commandsToTrust(all, objective, list).map((command) => ({
    ...command,
    where: whereOf(command, objective, source),
  }));
  const others = [
    ...reuseItems(all, source),
    ...variableItems(all, source),
    ...copyItems(settings.copy, placeOf(source, 'copy')),
    ...grantsOf(settings, source, described),
    ...tracingOf(settings, source),
  ];
  const more = settings.repositories.map(({ path, remote = '', role }): TrustItem => {
    const place =
      path ?? `${remote}, of which squad keeps a clone, and which it fetches with your login at the start of each run`;
    return { from: 'repository', run: joinedText(place, role), where: placeOf(source, 'repositories') };
  });
  return [...commands, ...others, ...more, ...publishItems(settings, source), ...modelItems(settings, source)];
}

/** Programs and access that the user's own file asks for. To write them there is the consent, so squad shows them and does not ask. */
export interface OwnCommands {
  readonly about: 'own-settings';
  readonly text: string;
  readonly next?: undefined;
}

export function ownCommands({ settings, repository, own }: SettingsRead, described: DescribedRuntimes): OwnCommands[] {
  if (own === undefined) return [];
  const said = (from: Settings, source: SettingsFile): string[] =>
    itemsToTrust(from, { file: '', criteria: [] }, source, described)
      // The first lines of a run show each agent with its model.
      .filter(({ from: kind }) => kind !== 'models')
      .map(({ from: kind, run }) => `${kind}: ${run}`);
  const asked = said(repository.settings, repository);
  const items = said(settings, own).filter((item) => !asked.includes(item));
  const text = `from ${own.file}: ${withShortConfig(items).join('; ')}`;
  return items.length === 0 ? [] : [{ about: 'own-settings', text }];
}

const CONFIG = /^runtime: (\S+) with config\.("(?:[^"\\]|\\.)*"|[\w-]+)/;

/** Configuration by its keys alone: a person knows the values, and a provider has many. */
function withShortConfig(items: readonly string[]): string[] {
  const keys = new Map<string, Set<string>>();
  const short: string[] = [];
  for (const item of items) {
    const [, runtime, key] = CONFIG.exec(item) ?? [];
    if (runtime === undefined || key === undefined) short.push(item);
    else keys.set(runtime, (keys.get(runtime) ?? new Set()).add(key));
  }
  for (const [runtime, names] of keys) short.push(`runtime: ${runtime} with config of ${[...names].join(', ')}`);
  return short;
}

/** Keys of `squad.yaml` whose name differs from the item's `from`. */
const KEYS: Readonly<Record<string, string>> = { runtime: 'runtimes', stage: 'playbook' };

function whereOf(
  { from, run }: TrustedCommand,
  { file, criteria }: Pick<Objective, 'file' | 'criteria'>,
  source: SettingsFile,
): string {
  if (from === 'criterion') return `${file}:${criteria.find(({ command }) => command === run)?.line ?? 1}`;
  return placeOf(source, KEYS[from] ?? from);
}

/** A stranger's file must not send a person's work or keys anywhere. */
function tracingOf({ tracing }: Settings, { file, text }: SettingsFile): TrustItem[] {
  if (tracing === undefined) return [];
  const { to, endpoint, project, content, headers = {} } = tracing;
  const what = content ? 'prompts, answers, and what tools were given and gave back' : 'what happens in runs';
  const own = to === 'langsmith' ? 'the LangSmith of your LANGSMITH_API_KEY' : 'your OTEL_EXPORTER_OTLP_ENDPOINT';
  const variables = Object.values(headers).map((variable) => `the endpoint of traces gets the variable ${variable}`);
  const where = `${file}:${lineOf(text, 'tracing')}`;
  const into = project === undefined ? '' : `, project ${project}`;
  return [`sends ${what} to ${endpoint ?? own}${into}`, ...variables].map((run) => ({ from: 'tracing', run, where }));
}

type ServerSettings = NonNullable<AgentSettings['mcp']>[number];

/** A grant is as good as a program: a stranger's file must not open this machine or its secrets to an agent. */
function grantsOf({ agents, runtimes }: Settings, source: SettingsFile, described: DescribedRuntimes): TrustItem[] {
  const own = Object.values(described).flatMap(({ variables = [] }) => variables);
  // The network's are how it reaches its model, and it gets them in any case.
  const isOwn = (name: string) =>
    NETWORK_VARIABLES.includes(name) || own.some((start) => name.toUpperCase().startsWith(start));
  const grantIn =
    (key: string) =>
    (run: string): TrustItem => ({ from: 'agent', run, where: sourceOf(source, key).file });
  return [
    ...(agents ?? []).flatMap((agent) => grantsOfAgent(agent, isOwn).map(grantIn('agents'))),
    ...Object.entries(runtimes).flatMap(([name, { env }]) =>
      env
        .filter((variable) => !isOwn(variable))
        .map((variable) => grantIn('runtimes')(`${name} gets the variable ${variable}`)),
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
    ...mcp.flatMap((server) => serverGrants(agent, server)),
    ...hooks.map((hook) => {
      const event = `${hook.on}${hook.tool === undefined ? '' : ` of ${hook.tool}`}`;
      return `${name} runs on ${event}${startOf(agent, hook, readHook(hook), hook.run)}: ${hook.run}`;
    }),
    ...env.filter((variable) => !isOwn(variable)).map((variable) => `${name} gets the variable ${variable}`),
  ];
}

/** A server's own variables are listed all: a stranger's server could send any of them away. */
function serverGrants(of: AgentSettings, server: ServerSettings): string[] {
  const { name: agent } = of;
  const { name, command, args = [], env = [], cwd, url, headers = {} } = server;
  const words = [command ?? '', ...args].map(shellWord).join(' ');
  const how =
    command === undefined
      ? `uses the MCP server ${name} at ${url ?? ''}`
      : `starts the MCP server ${name}${startOf(of, server, readServer({ command, args, cwd }), words)}: ${words}`;
  const variables = [...env, ...Object.values(headers)];
  return [
    `${agent} ${how}`,
    ...variables.map((variable) => `the MCP server ${name} of ${agent} gets the variable ${variable}`),
  ];
}

/** Effects of a command that its words do not show to everybody. Printed before the words, which a stranger wrote. */
function startOf(
  { access }: AgentSettings,
  { cwd }: { readonly cwd?: 'task' | undefined },
  { downloads }: Pick<Reading<unknown>, 'downloads'>,
  words: string,
): string {
  const inTask = access === 'full' ? 'starts in the agent’s folder' : 'starts in the agent’s folder, in a cage';
  const said = [
    ...(downloads.length === 0 ? [] : [`downloads and runs ${downloads.map(shellWord).join(', ')}`]),
    ...(cwd === 'task' ? [inTask] : []),
    ...(cwd === undefined && /\{folder\}|SQUAD_TASK_FOLDER/.test(words) ? ['gets the agent’s folder'] : []),
  ];
  return said.length === 0 ? '' : ` (${said.join('; ')})`;
}

/** Agents get its files, and with `publish` their work goes to its own remote, with the person's login. */
export function joinedText(path: string, role: string): string {
  return `agents also work on the repository at ${path}, which gets a branch squad/<run>, and is published with this one (${role})`;
}

/** The patterns by which files of the person's checkout are found. Each file that they find is an item of its own. */
export function copyItems(patterns: readonly string[], where: string): TrustItem[] {
  if (patterns.length === 0) return [];
  return [{ from: 'copy', run: `ignored files by the patterns ${patterns.join(', ')}`, where }];
}

/** The folders that one command made count in place of running it, so that a wrong list would hide its effects. */
function reuseItems({ setup }: Settings, source: SettingsFile): TrustItem[] {
  return setup.flatMap(({ run, reuse, when }): TrustItem[] => {
    if (reuse === undefined) return [];
    const files = pathsOf(when).join(', ');
    const said = `what \`${run}\` makes at ${pathsOf(reuse).join(', ')} is kept, and used again while these are the same: ${files}`;
    return [{ from: 'reuse', run: said, where: placeOf(source, 'setup') }];
  });
}

/** A stranger's command may send a variable anywhere, so each one is named. */
function variableItems({ env, setup, verify }: Settings, source: SettingsFile): TrustItem[] {
  const ofAll = env.map((name) => ({ key: 'env', run: `every command gets the variable ${name}` }));
  const ofSteps = Object.entries({ setup, verify }).flatMap(([key, steps]) =>
    steps.flatMap((step) =>
      (step.env ?? []).map((name) => ({ key, run: `\`${step.run}\` gets the variable ${name}` })),
    ),
  );
  return [...ofAll, ...ofSteps].map(({ key, run }) => ({ from: 'env', run, where: placeOf(source, key) }));
}

function publishItems({ publish }: Settings, source: SettingsFile): TrustItem[] {
  if (publish === undefined) return [];
  const { remote, base, pr, draft, reviewers = [], labels = [], merge } = publish;
  const pushes = `pushes the branch squad/<run> to the remote ${remote}, with your login`;
  const target = base ?? 'the branch that the run starts from';
  const opens = `opens a ${draft === true ? 'draft of a ' : ''}pull request there into ${target}, in your name`;
  const asks = `asks these for a review of it, in your name: ${reviewers.join(', ')}`;
  const marks = `gives it the labels ${labels.join(', ')}`;
  const follow = followOf(publish.follow);
  const { rounds, days, by } = follow ?? { rounds: 0, days: 0, by: [] };
  const who = `its ${by.map((one) => `${one}s`).join(' and ')}`;
  const follows =
    `works on its failed checks and on comments of ${who}, in ${rounds} rounds within ${days} days at most: ` +
    'has checks run again, pushes to its branch and answers comments, in your name';
  const merges = `asks the forge to merge it once one of ${who} has approved it, in your name`;
  const where = placeOf(source, 'publish');
  const all = [
    [true, pushes],
    [pr, opens],
    [reviewers.length > 0, asks],
    [labels.length > 0, marks],
    [follow !== undefined, follows],
    [merge !== undefined, merges],
  ] as const;
  return all.flatMap(([is, run]) => (is ? [{ from: 'publish' as const, run, where }] : []));
}

function modelItems({ models, agents = [] }: Settings, source: SettingsFile): TrustItem[] {
  const ofNames = Object.entries(models).map(([name, model]): TrustItem => {
    return { from: 'models', run: `${name} works with the model ${model}`, where: placeOf(source, 'models') };
  });
  const ofAgents = agents.flatMap(({ name, model, effort }): TrustItem[] => {
    const where = placeOf(source, 'agents');
    return [
      ...(model === undefined
        ? []
        : [{ from: 'models' as const, run: `${name} works with the model ${model}`, where }]),
      ...(effort === undefined ? [] : [{ from: 'models' as const, run: `${name} works with effort ${effort}`, where }]),
    ];
  });
  return [...ofNames, ...ofAgents];
}

function placeOf(source: SettingsFile, key: string): string {
  const { file, text } = sourceOf(source, key);
  return `${file}:${lineOf(text, key)}`;
}
