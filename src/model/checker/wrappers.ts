import { nextWord, WRAPPERS, type Wrapper } from '../wrapper-programs.ts';

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

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}

export interface Unwrapped {
  /** The program itself and what follows. */
  readonly words: readonly string[];
  /** Values of variables before the program, and of options that name a file. */
  readonly before: readonly string[];
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
