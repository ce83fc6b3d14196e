import { basename, isAbsolute } from 'node:path';
import { defined } from '../text/defined.ts';
import { shellWord } from '../text/shell-word.ts';
import type { BoundAgent } from './run.ts';
import type { McpServer, TurnRequest } from './turn-request.ts';

type Equipment = Pick<BoundAgent, 'skills' | 'mcp' | 'hooks' | 'env' | 'home' | 'ask' | 'files'>;
type Commands = {
  readonly mcp?:
    | readonly { readonly command?: string | undefined; readonly args?: readonly string[] | undefined }[]
    | undefined;
  readonly hooks?: readonly { readonly run: string }[] | undefined;
};

export interface EquipPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the bound content with this hash is. */
  readonly folderOf: (hash: string) => string;
}

export type Equipped =
  | {
      readonly type: 'equipped';
      readonly equipment: Pick<TurnRequest, 'mcp' | 'skills' | 'hooks' | 'environment' | 'home' | 'ask'>;
    }
  | ({ readonly type: 'refused' } & VariableProblem);

/** A variable that an agent's equipment names, and that cannot be used. */
interface VariableProblem {
  /** Below the agent in the settings. */
  readonly at: readonly (string | number)[];
  readonly message: string;
}

/** What an agent may use besides the usual, and what it may not; undefined: nothing is said. */
export function toolRulesOf({ allow, deny }: Pick<BoundAgent, 'allow' | 'deny'>): TurnRequest['toolRules'] {
  return (allow ?? deny) === undefined ? undefined : defined({ allow, deny });
}

/** The equipment of an agent's turn: its bound contents, and the values of the variables that its servers name. */
export function equip(agent: Equipment, { environment, folderOf }: EquipPorts): Equipped {
  const { skills, mcp = [], hooks, env, home, ask, files = [] } = agent;
  const [problem] = variableProblems(agent, environment);
  if (problem !== undefined) return { type: 'refused', ...problem };
  const copies = new Map(files.map(({ path, hash }) => [path, `${folderOf(hash)}/${basename(path)}`]));
  const copyOf = (word: string): string => copies.get(plainPath(word)) ?? word;
  const valueOf = (name: string): string => environment[name] ?? '';
  return {
    type: 'equipped',
    equipment: {
      mcp: mcp.map((server) => serverOf(server, copyOf, valueOf)),
      ...defined({
        skills: skills?.map(({ name, hash }) => ({ name, folder: `${folderOf(hash)}/${name}` })),
        hooks: hooks?.map((hook) => ({ ...hook, run: withCopies(hook.run, copyOf) })),
        environment: env,
        home,
        ask,
      }),
    },
  };
}

function serverOf(
  { name, command, args = [], env = [], url, headers = {} }: NonNullable<Equipment['mcp']>[number],
  copyOf: (word: string) => string,
  valueOf: (name: string) => string,
): McpServer {
  // A server that was asked for and does not start fails the turn.
  const required = true;
  if (command === undefined) {
    const values = Object.entries(headers).map(([header, variable]) => [header, valueOf(variable)]);
    return { name, required, transport: { type: 'http', url: url ?? '', headers: Object.fromEntries(values) } };
  }
  const values = env.map((variable) => [variable, valueOf(variable)]);
  const words = args.map(copyOf);
  return {
    name,
    required,
    transport: { type: 'stdio', command: copyOf(command), args: words, env: Object.fromEntries(values) },
  };
}

/** The variables of the host that an agent and its servers get by name. */
export function variablesOf({ env = [], mcp = [] }: Pick<Equipment, 'env' | 'mcp'>): string[] {
  return [...env, ...mcp.flatMap((server) => [...(server.env ?? []), ...Object.values(server.headers ?? {})])];
}

function variableProblems(
  { env = [], mcp = [] }: Equipment,
  environment: EquipPorts['environment'],
): VariableProblem[] {
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

/**
 * The words of an agent's commands that can name a file of the repository. Its folder in a turn is a clone that it may change, and
 * its servers and hooks run outside its sandbox, so they run copies of these files.
 */
export function fileWords({ mcp = [], hooks = [] }: Commands): string[] {
  const words = [
    ...mcp.flatMap(({ command, args = [] }) =>
      command === undefined ? [] : [...(isPath(command) ? [command] : []), ...args],
    ),
    ...hooks.flatMap(({ run }) => [...run.matchAll(WORD)].map(([word]) => word)),
  ];
  // With a dot or a slash: `npm test` means no file that is called `test`.
  return [...new Set(words.filter((word) => /[./]/.test(word)).map(plainPath))].filter((path) => FILE.test(path));
}

/** The programs among them that are named by a path from the root of the repository, so that there is no other place for them. */
export function programPaths({ mcp = [], hooks = [] }: Commands): string[] {
  const first = hooks.map(({ run }) => /^\s*([\w.@%+,/-]*)(?!\S)/.exec(run)?.[1] ?? '');
  const commands = mcp.map(({ command = '' }) => command);
  return [...commands, ...first]
    .filter(isPath)
    .map(plainPath)
    .filter((path) => FILE.test(path));
}

function isPath(word: string): boolean {
  return word.includes('/') && !isAbsolute(word);
}

function plainPath(word: string): string {
  return word.replace(/^(?:\.\/+)+/, '');
}

function withCopies(run: string, copyOf: (word: string) => string): string {
  return run.replaceAll(WORD, (word) => {
    const copy = copyOf(word);
    return copy === word ? word : shellWord(copy);
  });
}

/** A word of a shell's command line without quotes and expansions. */
const WORD = /(?<![^\s;&|()<>])[\w.@%+,/-]+(?![^\s;&|()<>])/g;
const FILE = /^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\u0000-\u001f\\:]{1,300}$/;
