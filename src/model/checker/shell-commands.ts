import { readShell, type ShellToken } from '../../text/shell-text.ts';
import { nextWord, type Wrapper, WRAPPERS } from '../wrapper-programs.ts';
import { pathFrom } from './repository-path.ts';

/** The wrappers of agents' commands, and others that checks start with. */
const PREFIXES: Readonly<Record<string, Wrapper>> = {
  ...WRAPPERS,
  builtin: {},
  gtimeout: WRAPPERS['timeout'] ?? {},
  flock: { values: ['-w', '-E'], words: 1 },
  chronic: {},
  'xvfb-run': { values: ['-n', '-s', '-e', '-f'] },
  'cross-env': {},
  'cross-env-shell': {},
  dotenv: { values: ['-e', '-v', '-p'] },
  c8: { values: ['-r', '-o', '--reporter', '--include', '--exclude', '-x', '-n'] },
  nyc: { values: ['-r', '--reporter', '--include', '--exclude', '-x', '-n'] },
  npx: { values: ['-p', '--package', '--registry'] },
  pnpx: { values: ['-p', '--package'] },
  bunx: { values: ['-p', '--package'] },
  uvx: { values: ['--from', '--with', '--python'] },
};
/** Wrappers that need a subcommand: `npm exec`, `poetry run`. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  npm: ['exec', 'x'],
  pnpm: ['exec', 'dlx'],
  yarn: ['exec', 'dlx'],
  bun: ['x'],
  poetry: ['run'],
  pipenv: ['run'],
  pdm: ['run'],
  uv: ['run'],
  rye: ['run'],
  hatch: ['run'],
  pixi: ['run'],
  bundle: ['exec'],
  coverage: ['run'],
  mise: ['exec', 'x'],
};
const VERB_VALUES = [
  '-p',
  '--package',
  '--python',
  '--with',
  '--directory',
  '--project',
  '--source',
  '-C',
  '--dir',
  '--cwd',
  '--prefix',
];
const MOST = 12;

interface Unwrapped {
  /** The program itself and what follows. */
  readonly words: readonly string[];
  /** Values of variables before the program, and of options that name a file. */
  readonly before: readonly string[];
}

/** First words of programs that find tests. */
export const VERB_WORDS = ['run', 'test', 'watch', 'dev', 'nextest', 'open', 'exec'];
export const JS_KEYS = [
  'jest',
  'mocha',
  'ava',
  'tap',
  'jasmine',
  'xo',
  'eslint',
  'prettier',
  'stylelint',
  'cypress',
  'size-limit',
  'knip',
  'react-scripts',
];
export const PYTHON_KEYS = [
  'pytest',
  'py.test',
  'tox',
  'nox',
  'mypy',
  'pyright',
  'basedpyright',
  'ruff',
  'flake8',
  'pylint',
  'black',
  'isort',
];

/** One command of a shell's line. */
export interface ShellCommand {
  /** With its assignments in front. A word ends before its first variable. */
  readonly words: readonly string[];
  /** The folder in which it runs, from the root of the repository; the root is ''. */
  readonly folder: string;
  /** Its output goes into the next command, whose exit status counts. */
  readonly isPiped: boolean;
}

/** Words that only group or negate commands. */
const LANGUAGE = ['!', '{', '}', 'if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', 'time'];
/** Where the working folder is written out. */
const HERE = /(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)\//g;

/** The commands of a line for a shell, in their order, as they would run in this folder. Runs nothing. */
export function shellCommands(line: string, folder: string): ShellCommand[] {
  const text = line.replaceAll(HERE, './');
  const read = readShell(text, 'kept');
  // Where only a shell can know the words, each part that could be a command counts as one.
  return read.type === 'tokens' ? fromTokens(read.tokens, folder) : placed(roughCommands(text), folder);
}

function fromTokens(tokens: readonly ShellToken[], start: string): ShellCommand[] {
  const found: ShellCommand[] = [];
  const outer: string[] = [];
  let folder = start;
  let words: string[] = [];
  let redirected = '';
  const close = (isPiped: boolean): void => {
    const own = withoutLanguage(words);
    words = [];
    if (own.length === 0) return;
    found.push({ words: own, folder, isPiped });
    folder = folderAfter(own, folder);
  };
  for (const token of tokens) {
    if (token.type === 'operator') {
      close(token.text === '|');
      if (token.text === '(') outer.push(folder);
      if (token.text === ')') folder = outer.pop() ?? folder;
    } else if (token.type === 'redirection') redirected = token.text;
    else {
      // A file that a command reads counts as a checker. One that it writes does not.
      if (redirected === '' || redirected.endsWith('<')) words.push(token.value);
      redirected = '';
    }
  }
  close(false);
  return found;
}

function roughCommands(text: string): string[][] {
  return text.split(/&&|\|\||[;|&\n()`]|\$\(/).map((part) =>
    part
      .replaceAll(/["'\\{}]/g, ' ')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

function placed(commands: readonly string[][], start: string): ShellCommand[] {
  let folder = start;
  return commands.flatMap((all): ShellCommand[] => {
    const words = withoutLanguage(all);
    if (words.length === 0) return [];
    const command = { words, folder, isPiped: false };
    folder = folderAfter(words, folder);
    return [command];
  });
}

function withoutLanguage(words: readonly string[]): string[] {
  const first = words.findIndex((word) => !LANGUAGE.includes(word));
  return first === -1 ? [] : words.slice(first);
}

function folderAfter([program, ...args]: readonly string[], folder: string): string {
  if (program !== 'cd' && program !== 'pushd') return folder;
  const to = args.find((word) => !word.startsWith('-'));
  return (to === undefined || to === '' ? undefined : pathFrom(folder, to)) ?? folder;
}

export function optionValue(args: readonly string[], options: readonly string[]): string | undefined {
  for (const [index, word] of args.entries()) {
    const [name = '', value] = word.split(/=(.*)/s);
    if (options.includes(name)) return value ?? args[index + 1];
  }
  return undefined;
}

/** With a slash, an extension or a pattern: `npm test` means no file that is called `test`. */
export function looksLikeFile(word: string): boolean {
  if (word.length > 300 || /:\/\/|[\0\n]/.test(word) || word.startsWith('-')) return false;
  return (
    /[/*]/.test(word) ||
    /[\w)\]}-]\.[A-Za-z]\w{0,9}$/.test(word) ||
    /^\.\w/.test(word) ||
    /^(?:Make|Rake|Just|Docker|Gem)file$/.test(word)
  );
}

/** The sections of a configuration file whose names have this word. */
export function sectionsOf(text: string, key: string): string {
  const name = key === 'py.test' ? 'pytest' : key;
  const sections = text.split(/^(?=\[)/m);
  return sections.filter((section) => /^\[[^\]]*\]/.exec(section)?.[0].includes(name) === true).join('');
}

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

/** Leaves out what only starts the program. */
export function unwrap(given: readonly string[]): Unwrapped {
  let words = given;
  const before: string[] = [];
  const take = (count: number): void => {
    before.push(
      ...words
        .slice(0, count)
        .filter(isAssignment)
        .map((word) => word.slice(word.indexOf('=') + 1)),
    );
    words = words.slice(count);
  };
  for (let depth = 0; depth < MOST; depth += 1) {
    const own = words.findIndex((word) => !isAssignment(word));
    if (own === -1)
      return { words: [], before: [...before, ...words.map((word) => word.slice(word.indexOf('=') + 1))] };
    take(own);
    const at = innerAt(words);
    if (at === undefined || at >= words.length) return { words, before };
    take(at);
    // A package may come with its version.
    words = [(words[0] ?? '').replace(/(?!^)@[\w.^~-]+$/, ''), ...words.slice(1)];
  }
  return { words, before };
}

function innerAt(words: readonly string[]): number | undefined {
  const name = (words[0] ?? '').replace(/^.*\//, '');
  const prefix = Object.hasOwn(PREFIXES, name) ? PREFIXES[name] : undefined;
  if (prefix !== undefined) {
    let at = nextWord(words, 1, prefix.values);
    while (isAssignment(words[at] ?? '')) at += 1;
    at += prefix.words ?? 0;
    return words[at] === '--' ? at + 1 : at;
  }
  if (!Object.hasOwn(VERBS, name)) return undefined;
  const verb = nextWord(words, 1, VERB_VALUES);
  if (VERBS[name]?.includes(words[verb] ?? '') !== true) return undefined;
  return nextWord(words, verb + 1, VERB_VALUES);
}
