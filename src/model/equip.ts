import { basename } from 'node:path';
import { defined } from '../text/defined.ts';
import type { EquipPaths, NamedPath } from './command-words.ts';
import { readHook, readServer } from './read-equipment.ts';
import type { BoundAgent } from './run.ts';
import type { McpServer, TurnRequest } from './turn-request.ts';

type Equipment = Pick<BoundAgent, 'skills' | 'mcp' | 'hooks' | 'env' | 'home' | 'ask' | 'files'>;
type Cwd = { readonly cwd?: 'task' | undefined };
type Commands = {
  readonly mcp?:
    | readonly (Cwd & { readonly command?: string | undefined; readonly args?: readonly string[] | undefined })[]
    | undefined;
  readonly hooks?: readonly (Cwd & { readonly run: string })[] | undefined;
};

export interface EquipPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the bound content with this hash is. */
  readonly folderOf: (hash: string) => string;
  /** Where the agent works. */
  readonly folder: string;
}

/** A server or hook, and where it starts. */
export type Placed<Kind> = Kind & Cwd;

export type Equipped =
  | {
      readonly type: 'equipped';
      readonly equipment: Pick<TurnRequest, 'skills' | 'environment' | 'home' | 'ask'> & {
        readonly mcp: Placed<McpServer>[];
        readonly hooks?: Placed<Hook>[];
      };
    }
  | ({ readonly type: 'refused' } & EquipProblem);

/** A part of an agent's equipment that cannot be used here. */
interface EquipProblem {
  /** Below the agent in the settings. */
  readonly at: readonly (string | number)[];
  readonly message: string;
}

type Hook = NonNullable<TurnRequest['hooks']>[number];

/** Tools that the settings allow or deny besides the runtime's usual ones; undefined: they name none. */
export function toolRulesOf({ allow, deny }: Pick<BoundAgent, 'allow' | 'deny'>): TurnRequest['toolRules'] {
  return (allow ?? deny) === undefined ? undefined : defined({ allow, deny });
}

/** The equipment of an agent's turn: its bound contents, and the values of the variables that its servers name. */
export function equip(agent: Equipment, { environment, folderOf, folder }: EquipPorts): Equipped {
  const { skills, mcp = [], hooks, env, home, ask, files = [] } = agent;
  const problem = variableProblems(agent, environment)[0] ?? commandProblem(agent);
  if (problem !== undefined) return { type: 'refused', ...problem };
  const copies = new Map(files.map(({ path, hash }) => [path, `${folderOf(hash)}/${basename(path)}`]));
  const paths = { copyOf: (path: string) => copies.get(path), folder };
  const valueOf = (name: string): string => environment[name] ?? '';
  return {
    type: 'equipped',
    equipment: {
      mcp: mcp.map((server) => serverOf(server, paths, valueOf)),
      ...defined({
        skills: skills?.map(({ name, hash }) => ({ name, folder: `${folderOf(hash)}/${name}` })),
        hooks: hooks?.map((hook) => ({ ...hook, run: readHook(hook).render(paths) })),
        environment: env,
        home,
        ask,
      }),
    },
  };
}

function serverOf(
  { name, command, args = [], env = [], cwd, url, headers = {} }: NonNullable<Equipment['mcp']>[number],
  paths: EquipPaths,
  valueOf: (name: string) => string,
): Placed<McpServer> {
  // A server that was asked for and does not start fails the turn.
  const required = true;
  if (command === undefined) {
    const values = Object.entries(headers).map(([header, variable]) => [header, valueOf(variable)]);
    return { name, required, transport: { type: 'http', url: url ?? '', headers: Object.fromEntries(values) } };
  }
  const values = env.map((variable) => [variable, valueOf(variable)]);
  const [program = command, ...words] = readServer({ command, args, cwd }).render(paths);
  const transport = { type: 'stdio', command: program, args: words, env: Object.fromEntries(values) } as const;
  return { name, required, transport, ...defined({ cwd }) };
}

/** The variables of the host that an agent and its servers get by name. */
export function variablesOf({ env = [], mcp = [] }: Pick<Equipment, 'env' | 'mcp'>): string[] {
  return [...env, ...mcp.flatMap((server) => [...(server.env ?? []), ...Object.values(server.headers ?? {})])];
}

function variableProblems({ env = [], mcp = [] }: Equipment, environment: EquipPorts['environment']): EquipProblem[] {
  const named = [
    ...env.map((name, index) => ({ name, at: ['env', index], isHeader: false })),
    ...mcp.flatMap((server, index) => [
      ...(server.env ?? []).map((name, of) => ({ name, at: ['mcp', index, 'env', of], isHeader: false })),
      ...Object.entries(server.headers ?? {}).map(([header, name]) => {
        return { name, at: ['mcp', index, 'headers', header], isHeader: true };
      }),
    ]),
  ];
  return named.flatMap(({ name, at, isHeader }) => {
    const value = environment[name];
    if (!value) return [{ at, message: `the variable ${name} is not set` }];
    if (isHeader && /[^\t\u0020-\u007e]/.test(value)) {
      return [{ at, message: `the value of the variable ${name} has characters that a header cannot have` }];
    }
    return [];
  });
}

/** The file of the repository that a setting's command names. */
interface NamedFile extends NamedPath {
  /** The setting, below the agent. */
  readonly at: readonly [key: 'mcp' | 'hooks', index: number];
}

/**
 * The files of the repository that an agent's commands name, each once. Its folder in a turn is a clone that it may change, and its
 * servers and hooks run outside its sandbox, so they run copies of these files.
 */
export function namedFiles(agent: Commands): NamedFile[] {
  const files = new Map<string, NamedFile>();
  for (const { at, paths } of readingsOf(agent)) {
    for (const { path, must } of paths) {
      const known = files.get(path);
      if (known === undefined || (must && !known.must)) files.set(path, { path, must, at });
    }
  }
  return [...files.values()];
}

/** The first command of an agent that squad does not start, and why. */
export function commandProblem(agent: Commands): EquipProblem | undefined {
  const found = readingsOf(agent).find(({ problem }) => problem !== undefined);
  if (found === undefined) return undefined;
  const { at, problem = '' } = found;
  return { at: [...at, at[0] === 'mcp' ? 'command' : 'run'], message: problem };
}

/** The refusal of what would start in an agent's folder where nothing confines it. */
export function uncagedMessage({ why, next }: { readonly why: string; readonly next: string }): string {
  return `it starts in the agent’s folder (\`cwd: task\`), where nothing can confine it here: ${why}. To go on, ${next}, or take out \`cwd: task\``;
}

function readingsOf({ mcp = [], hooks = [] }: Commands) {
  return [
    ...mcp.flatMap(({ command, ...server }, index) =>
      command === undefined ? [] : [{ at: ['mcp', index] as const, ...readServer({ command, ...server }) }],
    ),
    ...hooks.map((hook, index) => ({ at: ['hooks', index] as const, ...readHook(hook) })),
  ];
}
