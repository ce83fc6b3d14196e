import { readShell, type ShellToken, type ShellWord } from '../text/shell-text.ts';
import { launchOf } from './launchers.ts';

/** One thing that must exist before a command can run, as far as its words say. */
export type Need =
  /** A program on the PATH. */
  | { readonly type: 'program'; readonly name: string }
  /** A file below the folder in which it starts; `runs`: as a program. */
  | { readonly type: 'file'; readonly path: string; readonly runs: boolean }
  /** A script in `package.json`. */
  | { readonly type: 'script'; readonly name: string }
  /** A target of a makefile. */
  | { readonly type: 'target'; readonly name: string };

const OF_THE_SHELL = new Set(
  '! . : [ break cd command continue echo eval exec exit export false getopts hash kill printf pwd read readonly return set shift test times trap true type ulimit umask unset wait'.split(
    ' ',
  ),
);
/** A command follows them. */
const BEFORE_A_COMMAND = new Set(['!', 'if', 'then', 'elif', 'else', 'while', 'until', 'do', '{']);
/** The word after one of these is not a command. */
const NO_COMMAND = new Set(['for', 'case', 'fi', 'done', 'esac', '}', 'function']);
const ELSEWHERE =
  /^(?:-C|-f|-w|-r|-F|--(?:prefix|dir|cwd|directory|file|makefile|workspaces?|filter|recursive)(?:=.*)?)$/;

/** Says nothing of a command that only a shell can read. Pure. */
export function needsOf(command: string): Need[] {
  const shell = readShell(command);
  if (shell.type === 'unreadable') return [];
  const commands = simpleCommands(shell.tokens);
  // Then it is not known which folder files are in.
  const isMoved = commands.some(([first]) => first?.value === 'cd');
  return commands.flatMap(needsOfOne).filter(({ type }) => !isMoved || type === 'program');
}

function simpleCommands(tokens: readonly ShellToken[]): ShellWord[][] {
  const commands: ShellWord[][] = [[]];
  let isTarget = false;
  for (const token of tokens) {
    if (token.type === 'operator') commands.push([]);
    else if (token.type === 'redirection') isTarget = true;
    else if (isTarget) isTarget = false;
    else commands.at(-1)?.push(token);
  }
  return commands.map(withoutPrefix);
}

function withoutPrefix(words: readonly ShellWord[]): ShellWord[] {
  const from = words.findIndex(
    ({ value, isPlain }) => !/^[A-Za-z_]\w*=/.test(value) && !(isPlain && BEFORE_A_COMMAND.has(value)),
  );
  return from < 0 ? [] : words.slice(from);
}

function needsOfOne(given: readonly ShellWord[]): Need[] {
  const words = given.map(({ value, variables }) => (variables.length === 0 ? value : undefined));
  const [first] = words;
  if (first === undefined || first === '' || (given[0]?.isPlain === true && NO_COMMAND.has(first))) return [];
  if (OF_THE_SHELL.has(first)) return [];
  const { launch, program } = launchOf(words);
  const name = words[program];
  const rest = words.slice(program + 1);
  const script = launch.type === 'script' ? words[launch.at] : undefined;
  return [
    ...programNeed(first),
    ...(program === 0 || name === undefined || OF_THE_SHELL.has(name) ? [] : programNeed(name)),
    ...(script === undefined ? [] : fileNeed(script, false)),
    ...(rest.some((word) => word === undefined || ELSEWHERE.test(word)) ? [] : namedNeeds(name ?? '', rest)),
  ];
}

function programNeed(name: string): Need[] {
  return name.includes('/') ? fileNeed(name, true) : [{ type: 'program', name }];
}

function fileNeed(path: string, runs: boolean): Need[] {
  return path === '-' || path.startsWith('/') ? [] : [{ type: 'file', path, runs }];
}

const VERBS = ['test', 'start', 'stop', 'restart'];

function namedNeeds(program: string, rest: readonly (string | undefined)[]): Need[] {
  const [verb = '', name] = rest.filter((word) => word?.startsWith('-') === false);
  if (/^(?:npm|pnpm|yarn|bun)$/.test(program)) {
    const script = /^run(?:-script)?$/.test(verb) ? name : program !== 'bun' && VERBS.includes(verb) ? verb : undefined;
    return script === undefined ? [] : [{ type: 'script', name: script }];
  }
  if (!/^(?:g|b)?make$/.test(program)) return [];
  const targets = rest.flatMap((word) => (word === undefined || /^-|=/.test(word) ? [] : [word]));
  return targets.map((target) => ({ type: 'target', name: target }));
}
