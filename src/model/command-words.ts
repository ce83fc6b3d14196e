import { isAbsolute } from 'node:path';
import { launchOf, type Launch } from './launchers.ts';

/** Stands for the agent's folder in the words of a server or hook. */
export const FOLDER = '{folder}';
/** The variable that holds it. */
const FOLDER_VARIABLES = ['SQUAD_TASK_FOLDER', 'PWD', 'OLDPWD'];

export const IN_A_FILE = 'Put it into a file of the repository and name that file: squad runs a copy of it';
const IN_TASK = 'say `cwd: task`, which starts it in the agent’s folder, in a cage';

/** A word of a command. */
export interface Word {
  /** As it is written. */
  readonly text: string;
  /** undefined: it has a variable. */
  readonly value: string | undefined;
  /** The text before its first variable. */
  readonly beginning: string;
  readonly variables: readonly string[];
}

/** A path from the root of the repository. `must`: the command can mean nothing but a file there. */
export interface NamedPath {
  readonly path: string;
  readonly must: boolean;
}

export interface EquipPaths {
  /** Where the bound copy of a file is; undefined: there is none. */
  readonly copyOf: (path: string) => string | undefined;
  readonly folder: string;
}

/** The files that one command names, and the programs that it starts. */
export interface CommandReading {
  readonly paths: readonly NamedPath[];
  /** Names of packages that it fetches and runs. */
  readonly downloads: readonly string[];
  /** Why it must not start, and what to write instead. */
  readonly problem?: string | undefined;
  /** The places of words that are texts for a shell. */
  readonly shell: number | undefined;
  /** A word as it starts in a turn. */
  rewrite(index: number, value: string, paths: EquipPaths): string;
}

export interface ReadAs {
  /** A shell reads it: every word that looks like a path is one. */
  readonly inShell: boolean;
  /** It starts in the agent's folder, in a cage. */
  readonly inTask: boolean;
}

/** Reads one command: the program, what that starts, and the files of the repository that it names. Runs nothing. */
export function readCommand(words: readonly Word[], as: ReadAs): CommandReading {
  const { launch, program } = launchOf(words.map(({ value }) => value));
  const roles = words.map((_, index) => roleOf(index, program, launch));
  const found = words.map((word, index) => pathIn(word, roles[index] ?? 'argument', as));
  const talks = TALKS.includes(words[program]?.value ?? '');
  const paths = talks ? [] : found.flatMap((one) => (one?.type === 'path' ? [one] : []));
  const problem = as.inTask
    ? undefined
    : (problemOf(words, program, launch) ?? (talks ? undefined : outsideProblem(found)));
  return {
    paths: paths.map(({ path, must }) => ({ path, must: must && (!as.inTask || path === plainPath(words[0]?.value)) })),
    downloads: launch.type === 'downloads' ? launch.names : [],
    problem,
    shell: launch.type === 'shell' ? launch.at : undefined,
    rewrite: (index, value, { copyOf, folder }) => {
      const one = found[index];
      const copy = one?.type === 'path' && !talks ? copyOf(one.path) : undefined;
      return copy === undefined ? value.replaceAll(FOLDER, folder) : `${one?.type === 'path' ? one.option : ''}${copy}`;
    },
  };
}

/** They say their words, and open no file. */
const TALKS = ['echo', 'printf', ':', 'true', 'false', 'exit'];

type Role = 'program' | 'script' | 'name' | 'argument';

function roleOf(index: number, program: number, launch: Launch): Role {
  if (index === program) return 'program';
  if (launch.type === 'script' && index === launch.at) return 'script';
  // The name of a package, or a text that is read by itself.
  if (launch.type === 'downloads' && launch.at.includes(index)) return 'name';
  return launch.type === 'shell' && index === launch.at ? 'name' : 'argument';
}

type Found =
  | (NamedPath & { readonly type: 'path'; readonly option: string })
  | { readonly type: 'outside'; text: string };

const OPTION = /^(-{1,2}[A-Za-z][\w-]*=)(.+)$/s;
const FILE = /^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\u0000-\u001f\\:]{1,300}$/;

/** The file of the repository that a word can name; `outside`: it names something in the folder in which it starts. */
function pathIn({ text, value, beginning, variables }: Word, role: Role, { inShell }: ReadAs): Found | undefined {
  const isProgram = role === 'program';
  if (value === undefined) {
    const isRelative = /^[^/~-].*\//.test(beginning) && !beginning.includes('://');
    return isRelative && variables.length > 0 ? { type: 'outside', text } : undefined;
  }
  if (role === 'name' || (isProgram && !value.includes('/'))) return undefined;
  const [, option = '', named = value] = isProgram ? [] : (OPTION.exec(value) ?? []);
  if (isAbsolute(named) || named.startsWith('-') || /:\/\/|\{folder\}/.test(named)) return undefined;
  if (/^\.{1,2}$|(?:^|\/)\.\.(?:\/|$)|^\.\/+$/.test(named)) return { type: 'outside', text: named };
  const path = plainPath(named);
  if (!FILE.test(path)) return undefined;
  const looksLikeOne = named.startsWith('./') || (inShell && /^[\w.@%+,-]+(?:\/[\w.@%+,-]*)+$/.test(named));
  const must = isProgram || role === 'script' || looksLikeOne;
  // With a dot or a slash: `npm test` means no file that is called `test`.
  return must || /[./]/.test(path) ? { type: 'path', option, path, must } : undefined;
}

function plainPath(word = ''): string {
  return word.replace(/^(?:\.\/+)+/, '');
}

function outsideProblem(found: readonly (Found | undefined)[]): string | undefined {
  const outside = found.find((one) => one?.type === 'outside');
  if (outside?.type !== 'outside') return undefined;
  return `it starts in an empty folder, so \`${outside.text}\` names nothing there. Write ${FOLDER} for the agent’s folder, as in ${FOLDER}/src, or a path from the root of the repository for a copy of a file`;
}

const MOVES = ['cd', 'pushd', 'popd', 'chdir'];
const MOVED = `it starts in an empty folder and may not change to another one by \`cd\`. Name files from the root of the repository, for which squad puts copies; write ${FOLDER} for the agent’s folder; or ${IN_TASK}`;
/** squad cannot see which commands these run: they are in variables or in other files. */
const UNREAD = ['eval', 'source', '.', 'alias', 'trap'];

function problemOf(words: readonly Word[], program: number, launch: Launch): string | undefined {
  const called = words[program]?.value ?? '';
  if (MOVES.includes(called)) return MOVED;
  if (UNREAD.includes(called)) return `squad cannot read \`${called}\` in it. ${IN_A_FILE}`;
  if (launch.type === 'looks') {
    return `\`${launch.what}\` runs what it finds in its working folder, and this starts in an empty one; ${IN_TASK}`;
  }
  const name = words[program];
  const script = launch.type === 'script' || launch.type === 'shell' ? words[launch.at] : undefined;
  const last = launch.type === 'script' || launch.type === 'shell' ? launch.at : program;
  const upTo = launch.type === 'downloads' ? Math.max(program, ...launch.at) : last;
  const planted = words.slice(0, upTo + 1).find((word) => namesFolder(word));
  if (planted !== undefined) {
    return `\`${planted.text}\` would run what the agent has put there. Name a file of the repository from its root, of which squad runs a copy, or ${IN_TASK}`;
  }
  const unknown = [name, script].find((word) => word !== undefined && word.value === undefined && !isOfPerson(word));
  if (unknown !== undefined) return `squad cannot know what \`${unknown.text}\` runs. ${IN_A_FILE}`;
  if ((launch.type === 'script' || launch.type === 'shell') && script === undefined) {
    return `\`${name?.text}\` would run what it reads from elsewhere. ${IN_A_FILE}`;
  }
  return undefined;
}

function namesFolder({ value, variables }: Word): boolean {
  return value?.includes(FOLDER) === true || variables.some((name) => FOLDER_VARIABLES.includes(name));
}

/** Below an absolute path or the person's home, where no agent writes. */
function isOfPerson({ text, beginning }: Word): boolean {
  return isAbsolute(beginning) || /^"?(?:~|\$HOME|\$\{HOME\})"?\//.test(text);
}
