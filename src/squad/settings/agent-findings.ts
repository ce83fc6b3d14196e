import { MAIL_SERVER_NAME } from '../../model/armory.ts';
import { pathText, type Finding, type Path } from '../../text/explain-issue.ts';
import { isJsonObject, type Json } from '../../text/json.ts';

/**
 * Problems between entries or fields, each of which fits the schema. Found in the raw value, so that they are reported together with
 * the schema's. `own`: the file is the user's, for all repositories.
 */
export function agentFindings(agents: Json | undefined, whose: 'repository' | 'own'): Finding[] {
  if (!Array.isArray(agents)) return [];
  return [
    ...sameNames(agents, ['agents'], 'name', 'each agent needs its own'),
    ...agents.flatMap((agent, index) => {
      if (!isJsonObject(agent)) return [];
      const at = ['agents', index];
      return [
        ...networkFindings(agent, at),
        ...serverFindings(agent['mcp'], at),
        ...skillFindings(agent['skills'], at),
        ...hookFindings(agent['hooks'], at),
        ...(whose === 'own' ? relativeFindings(agent, at) : []),
      ];
    }),
  ];
}

type Fields = Readonly<Record<string, Json>>;

/** Entries of a list that have the name of an earlier one. */
export function sameNames(list: readonly Json[], at: Path, key: string, why: string): Finding[] {
  const first = new Map<string, number>();
  return list.flatMap((entry, index) => {
    const name = isJsonObject(entry) ? entry[key] : undefined;
    if (typeof name !== 'string') return [];
    const earlier = first.get(name);
    if (earlier === undefined) {
      first.set(name, index);
      return [];
    }
    return [finding([...at, index, key], `“${name}” is the name of ${pathText(at)}[${earlier}] already; ${why}`)];
  });
}

function networkFindings({ access = 'edit', network }: Fields, at: Path): Finding[] {
  const say = (message: string) => [finding([...at, 'network'], message)];
  if (network === true && access === 'read-only')
    return say('an agent with `access: read-only` has no network; give it `access: edit`, or take this out');
  if (network === false && access === 'full')
    return say('`access: full` confines nothing, so the network stays open; take this out');
  return [];
}

function serverFindings(servers: Json | undefined, at: Path): Finding[] {
  if (!Array.isArray(servers)) return [];
  const path = [...at, 'mcp'];
  const own = servers.flatMap((server, index) =>
    isJsonObject(server) && server['name'] === MAIL_SERVER_NAME
      ? [
          finding(
            [...path, index, 'name'],
            `“${MAIL_SERVER_NAME}” is the name of squad’s own server; choose another one`,
          ),
        ]
      : [],
  );
  return [...sameNames(servers, path, 'name', 'each server needs its own'), ...own];
}

/** Runtimes know a skill by the name of its folder. */
function skillFindings(skills: Json | undefined, at: Path): Finding[] {
  if (!Array.isArray(skills)) return [];
  const names = skills.map((folder) => (typeof folder === 'string' ? (folder.split('/').at(-1) ?? '') : ''));
  return names.flatMap((name, index) => {
    const earlier = names.indexOf(name);
    const path = [...at, 'skills', index];
    return name === '' || earlier === index
      ? []
      : [
          finding(
            path,
            `“${name}” is the name of the folder at ${pathText(at)}.skills[${earlier}] already, and a skill is called like its folder`,
          ),
        ];
  });
}

function hookFindings(hooks: Json | undefined, at: Path): Finding[] {
  if (!Array.isArray(hooks)) return [];
  return hooks.flatMap((hook, index) => {
    if (!isJsonObject(hook) || hook['tool'] === undefined || isAboutTool(hook['on'])) return [];
    return [finding([...at, 'hooks', index, 'tool'], 'only `tool-started` and `tool-ended` are about a tool')];
  });
}

function isAboutTool(on: Json | undefined): boolean {
  return typeof on === 'string' && on.startsWith('tool-');
}

/** A file of the repository would be another one in each. */
function relativeFindings({ skills, mcp, hooks }: Fields, at: Path): Finding[] {
  const each = (list: Json | undefined, key: string, field: (entry: Json) => [Path, Json | undefined]) =>
    (Array.isArray(list) ? list : []).map((entry, index): [Path, Json | undefined] => {
      const [path, value] = field(entry);
      return [[key, index, ...path], value];
    });
  const fieldOf =
    (name: string) =>
    (entry: Json): [Path, Json | undefined] => [[name], isJsonObject(entry) ? entry[name] : undefined];
  const paths = [
    ...each(skills, 'skills', (folder) => [[], typeof folder === 'string' ? `${folder}/` : folder]),
    ...each(mcp, 'mcp', fieldOf('command')),
    ...each(hooks, 'hooks', fieldOf('run')),
  ];
  return paths.flatMap(([path, value]) => {
    const word = typeof value === 'string' ? (value.trim().split(/\s/)[0] ?? '') : '';
    return word.includes('/') && !word.startsWith('/')
      ? [finding([...at, ...path], 'this file is for all repositories, so it needs an absolute path')]
      : [];
  });
}

/** One that begins with its place. */
export function finding(path: Path, message: string): Finding {
  return { path, message: `${pathText(path)}: ${message}` };
}
