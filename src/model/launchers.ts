import { nextWord, WRAPPERS, type Words } from './wrapper-programs.ts';

/** How a command starts code besides its own program, as far as its words say. */
export type Launch =
  | { readonly type: 'plain' }
  /** It looks into its working folder and runs what it finds there. */
  | { readonly type: 'looks'; readonly what: string }
  /** It fetches packages and runs them. `at`: the places of their names among the words; none: an option had the name. */
  | { readonly type: 'downloads'; readonly names: readonly string[]; readonly at: readonly number[] }
  /** The word at this place is a text for a shell. */
  | { readonly type: 'shell'; readonly at: number }
  /** The word at this place is the file that it runs. */
  | { readonly type: 'script'; readonly at: number };

interface Row {
  readonly programs: RegExp;
  /** Absent: whatever follows. A verb of two words has a space. */
  readonly verbs?: readonly string[];
  readonly does: 'looks' | 'downloads' | 'script' | 'shell' | 'plain';
  /** Options whose value is the next word. */
  readonly values?: readonly string[];
  /** Options that name what is fetched. */
  readonly names?: readonly string[];
  /** Options with the folder that it works in. An absolute one is not the working folder. */
  readonly elsewhere?: readonly string[];
  /** Options after which the program's text is in the arguments, and no file is run. */
  readonly inline?: RegExp;
}

const row = (programs: string, does: Row['does'], more: Omit<Row, 'programs' | 'does'> = {}): Row => ({
  programs: new RegExp(`^(?:${programs})$`),
  does,
  ...more,
});

const NPM = {
  values: ['--registry', '-w', '--workspace', '--loglevel', '--cache', '--prefix', '-C', '--dir', '--cwd'],
};
const NPM_ELSEWHERE = { ...NPM, elsewhere: ['--prefix', '-C', '--dir', '--cwd'] };
const PACKAGE = ['-p', '--package'];
const UV = { values: ['--python', '-p', '--with', '--index', '--index-url', '--directory', '--project', '--env-file'] };
const NODE = ['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions', '--env-file'];

/** The first row that fits counts. */
const ROWS: readonly Row[] = [
  row('npx|pnpx|bunx', 'downloads', { ...NPM, names: PACKAGE }),
  row('npm|pnpm|yarn|bun', 'downloads', { ...NPM, verbs: ['exec', 'x', 'dlx', 'create', 'init'], names: PACKAGE }),
  row('npm|pnpm|yarn', 'looks', NPM_ELSEWHERE),
  row('bun', 'looks', { ...NPM_ELSEWHERE, verbs: ['run', 'test', 'install', 'i', 'add', 'link', 'build'] }),
  row('bun|tsx|ts-node', 'script', { values: NODE, inline: /^(?:-e|-p|--eval|--print)/ }),
  row('uvx', 'downloads', { ...UV, names: ['--from'] }),
  row('uv', 'downloads', { ...UV, verbs: ['tool run'], names: ['--from'] }),
  row('uv', 'looks', { ...UV, verbs: ['run'], names: ['--with'], elsewhere: ['--directory', '--project'] }),
  row('pipx', 'downloads', { verbs: ['run'], values: ['--python', '--index-url'], names: ['--spec'] }),
  row('deno', 'looks', { verbs: ['task', 'test', 'bench'], values: ['--config', '-c'] }),
  row('deno', 'script', { verbs: ['run', 'serve', 'eval', 'repl'], values: ['--config', '-c', '--import-map'] }),
  row('go', 'downloads', { verbs: ['run'], values: ['-C', '-exec', '-tags'], elsewhere: ['-C'] }),
  row('nix', 'downloads', { verbs: ['run', 'shell'], values: ['-c', '--command', '-f', '--file'] }),
  row('git', 'looks', { values: ['-c'] }),
  row('(?:g|b)?make|just|task|rake|ninja|cmake|meson|bazel|buck2?|earthly', 'looks', {
    elsewhere: ['-C', '--directory', '-f', '--file', '--justfile', '-d', '--working-directory', '--dir', '--build'],
  }),
  row(
    'cargo|go|gradle|mvn|ant|sbt|lein|mix|dotnet|swift|stack|cabal|nix-shell|nix|devbox|direnv|mise|asdf|rtx',
    'looks',
    {
      elsewhere: ['--manifest-path', '-C', '--chdir', '-f', '--file', '-p', '--project-dir', '--project'],
    },
  ),
  row('bundle|composer|poetry|pdm|hatch|pipenv|tox|nox|pytest|pre-commit|lefthook|husky', 'looks', {
    elsewhere: ['-C', '--directory', '-d', '--working-dir', '-p', '--project', '-c', '--config'],
  }),
  row('nx|turbo|lerna|gulp|grunt|jest|vitest|mocha', 'looks', {}),
  row('node|nodejs', 'looks', { verbs: [], inline: /^--run(?:=|$)/ }),
  row('(?:ba|da|z|k|mk|a|fi)?sh', 'shell', { values: ['-o', '+o', '-O', '+O', '--rcfile', '--init-file'] }),
  row('node|nodejs', 'script', { values: NODE, inline: /^(?:-[ep]+|--eval|--print)(?:=|$)/ }),
  row('python[\\d.]*|pypy[\\d.]*', 'script', { values: ['-W', '-X'], inline: /^-[A-Za-z]*[cm]/ }),
  row('ruby|perl|lua[\\d.]*|php[\\d.]*|Rscript|osascript', 'script', { values: ['-I'], inline: /^-[A-Za-z]*[eEr]/ }),
];

interface Started {
  readonly launch: Launch;
  /** The place of the program that does it, behind those that only start another. */
  readonly program: number;
}

export function launchOf(words: Words): Started {
  const program = programAt(words);
  const name = words[program]?.split('/').at(-1) ?? '';
  // `env -S` takes words apart that are one here.
  const splits = words.slice(0, program).find((word) => /^(?:-[a-zA-Z]*S|--split-string)/.test(word ?? ''));
  if (splits !== undefined && words[0] === 'env') return { program, launch: { type: 'looks', what: 'env -S' } };
  for (const one of ROWS) {
    const launch = one.programs.test(name) ? launchBy(one, name, words, program) : undefined;
    if (launch !== undefined) return { program, launch };
  }
  return { program, launch: { type: 'plain' } };
}

function programAt(words: Words): number {
  let at = 0;
  for (let depth = 0; depth < 10; depth += 1) {
    const wrapper = WRAPPERS[words[at]?.split('/').at(-1) ?? ''];
    if (wrapper === undefined || at + 1 >= words.length) return at;
    at = nextWord(words, at + 1, wrapper.values ?? []);
    while (/^[A-Za-z_]\w*=/.test(words[at] ?? '')) at += 1;
    at += wrapper.words ?? 0;
  }
  return at;
}

function launchBy(one: Row, name: string, words: Words, program: number): Launch | undefined {
  const { values = [], verbs, names = [], elsewhere = [], inline } = one;
  const skipped = [...values, ...names, ...elsewhere];
  let at = nextWord(words, program + 1, skipped);
  let verb = '';
  if (verbs?.length === 0) {
    const isMeant = words.slice(program + 1, at).some((word) => inline?.test(word ?? '') === true);
    return isMeant ? { type: 'looks', what: `${name} --run` } : undefined;
  }
  if (verbs !== undefined) {
    const found = verbs.find((each) => each === words.slice(at, at + each.split(' ').length).join(' '));
    if (found === undefined) return undefined;
    verb = found;
    at = nextWord(words, at + found.split(' ').length, skipped);
  }
  const options = words.slice(program + 1, at);
  switch (one.does) {
    case 'plain':
      return { type: 'plain' };
    case 'shell':
      return { type: options.some((word) => /^-[a-zA-Z]*c/.test(word ?? '')) ? 'shell' : 'script', at };
    case 'script':
      return scriptAt(words, at, options, inline);
    case 'downloads':
      return downloadOf(one, words, at, options);
    case 'looks': {
      const fetched = valuesOf(options, names);
      if (fetched.length > 0) return { type: 'downloads', names: fetched, at: [] };
      if (valuesOf(options, elsewhere).some((folder) => folder.startsWith('/'))) return { type: 'plain' };
      return { type: 'looks', what: [name, verb || (words[at] ?? '')].join(' ').trim() };
    }
  }
}

function scriptAt(words: Words, at: number, options: Words, inline: RegExp | undefined): Launch {
  const word = words[at];
  if (options.some((option) => inline?.test(option ?? '') === true) || at >= words.length || word === '-') {
    return { type: 'plain' };
  }
  return word !== undefined && isFetched(word)
    ? { type: 'downloads', names: [word], at: [at] }
    : { type: 'script', at };
}

function isFetched(word: string): boolean {
  return /^(?:npm|jsr|node|https?):/.test(word);
}

/** Some of these programs also take what lies in the working folder. */
function downloadOf({ programs, names = [] }: Row, words: Words, at: number, options: Words): Launch | undefined {
  const fetched = valuesOf(options, names);
  if (fetched.length > 0) return { type: 'downloads', names: fetched, at: [at] };
  const word = words[at];
  if (word === undefined) return { type: 'looks', what: words.slice(at - 1, at).join(' ') };
  if (/^(?:\.|\/)/.test(word)) return word.startsWith('/') ? { type: 'plain' } : { type: 'looks', what: word };
  // `go run ./cmd` is the folder’s own, and `go run example.org/cmd@v1` is fetched.
  if (programs.test('go') && !word.includes('@')) return { type: 'looks', what: `go run ${word}` };
  return { type: 'downloads', names: [word], at: [at] };
}

function valuesOf(options: Words, names: readonly string[]): string[] {
  return options.flatMap((option, index) => {
    const [name = '', value] = option?.split(/=(.*)/s) ?? [];
    if (!names.includes(name)) return [];
    const given = value ?? options[index + 1];
    return given === undefined ? [] : [given];
  });
}
