/** How a program of a check uses the files that its words name. */
type ToolKind =
  /** It looks at them or changes them: they are what is checked. */
  | 'looks'
  /** It looks at them or changes them, by rules from its own configuration. */
  | 'lints'
  /** It runs tests, which it finds by their names. */
  | 'tests';

export interface Tool {
  readonly kind: ToolKind;
  /** Names of its own configuration files. */
  readonly configs: RegExp | undefined;
  /** A key of package.json, and a part of the names of sections in files that several tools share. */
  readonly key: string;
}

const LOOKS = new Set(
  (
    'test [ [[ grep egrep fgrep rg ag cat bat head tail wc ls tree stat find fd file echo printf true false : pwd which type hash ' +
    'mkdir rm rmdir touch chmod chown sort uniq tr cut sed awk gawk jq yq tee basename dirname realpath readlink date sleep cd pushd ' +
    'popd git exit return set unset export local read wait kill trap ulimit umask du df xmllint nl od xxd strings for case in esac'
  ).split(' '),
);
/** Their option names a file with patterns or a program, which checks the others. */
export const PROGRAM_FILES: Readonly<Record<string, readonly string[]>> = {
  grep: ['-f', '--file'],
  egrep: ['-f', '--file'],
  fgrep: ['-f', '--file'],
  rg: ['-f', '--file'],
  sed: ['-f', '--file'],
  awk: ['-f', '--file'],
  gawk: ['-f', '--file'],
  jq: ['-f', '--from-file'],
};

const JS = '[cm]?[jt]s';
const RC = '(?:rc(?:\\.(?:json|ya?ml|toml|[cm]?js))?)';

const row = (names: string, kind: ToolKind, configs?: string): readonly [RegExp, ToolKind, RegExp | undefined] => [
  new RegExp(`^(?:${names})$`),
  kind,
  configs === undefined ? undefined : new RegExp(`^(?:${configs})$`),
];

const ROWS = [
  row('vitest', 'tests', `vitest\\.(?:config|workspace|setup)\\.(?:${JS}|json)|vite\\.config\\.${JS}`),
  row('jest', 'tests', `jest[.-](?:config|setup|preset)[\\w.-]*\\.(?:${JS}|json)`),
  row('mocha|_mocha', 'tests', `\\.mocha${RC}|mocha\\.opts`),
  row('ava|tap|tape|uvu|jasmine|japa|lab', 'tests', `(?:ava|jasmine)\\.config\\.${JS}|\\.tap${RC}|jasmine\\.json`),
  row(
    'playwright|cypress|wdio|nightwatch|testcafe',
    'tests',
    `(?:playwright|cypress|wdio|nightwatch)[\\w.-]*\\.${JS}|cypress\\.json`,
  ),
  row('karma|ng|react-scripts', 'tests', `karma\\.conf\\.${JS}|angular\\.json`),
  row(
    'pytest|py\\.test|unittest|nose2?|nosetests|behave|robot',
    'tests',
    'pytest\\.ini|conftest\\.py|behave\\.ini|\\.coveragerc',
  ),
  row('tox|nox', 'tests', 'tox\\.ini|noxfile\\.py|pytest\\.ini|conftest\\.py'),
  row('rspec|cucumber', 'tests', '\\.rspec|cucumber\\.ya?ml'),
  row('phpunit|pest|codecept', 'tests', '(?:phpunit|codeception)[\\w.-]*'),
  row('bats|shellspec|shunit2|prove|ctest|busted|expect', 'tests', '\\.shellspec|CTestTestfile\\.cmake|\\.busted'),
  row(
    'mvn|mvnw|gradle|gradlew|ant|sbt|bazel|bazelisk|buck2?',
    'tests',
    'pom\\.xml|(?:build|settings)\\.gradle(?:\\.kts)?|build\\.(?:xml|sbt)|BUILD(?:\\.bazel)?',
  ),
  row('eslint|xo|standard', 'lints', `eslint\\.config\\.${JS}|\\.eslint(?:${RC}|ignore)`),
  row('tsc|vue-tsc|tsgo|attw|tsd', 'lints', 'tsconfig[\\w.-]*\\.json'),
  row('prettier', 'lints', `\\.prettier(?:${RC}|ignore)|prettier\\.config\\.${JS}`),
  row('biome', 'lints', 'biome\\.jsonc?'),
  row('oxlint|oxfmt', 'lints', '\\.ox(?:lint|fmt)rc\\.jsonc?'),
  row('stylelint', 'lints', `\\.stylelint(?:${RC}|ignore)|stylelint\\.config\\.${JS}`),
  row(
    'knip|publint|size-limit|markdownlint(?:-cli2?)?',
    'lints',
    `knip\\.(?:jsonc?|${JS})|\\.size-limit\\.\\w+|\\.markdownlint[\\w.-]*`,
  ),
  row('mypy|pyright|basedpyright', 'lints', '\\.?mypy\\.ini|pyrightconfig\\.json'),
  row('ruff|flake8|pylint|black|isort', 'lints', '\\.?ruff\\.toml|\\.flake8|\\.?pylintrc|\\.isort\\.cfg'),
  row('golangci-lint|staticcheck|revive', 'lints', '\\.golangci\\.\\w+|staticcheck\\.conf|revive\\.toml'),
  row(
    'shellcheck|hadolint|actionlint|yamllint',
    'lints',
    '\\.shellcheckrc|\\.hadolint\\.ya?ml|actionlint\\.ya?ml|\\.yamllint(?:\\.ya?ml)?',
  ),
  row('rubocop', 'lints', '\\.rubocop[\\w.-]*'),
  row('phpstan|psalm|phpcs', 'lints', '(?:phpstan|psalm|phpcs)[\\w.-]*|\\.phpcs\\.xml'),
  row(
    'py_compile|compileall|gofmt|goimports|rustfmt|clang-format|clang-tidy',
    'lints',
    '\\.?rustfmt\\.toml|\\.clang-(?:format|tidy)',
  ),
] as const;

/** Programs with several uses, by their first word. */
const VERBS: Readonly<Record<string, Readonly<Record<string, Tool['kind']>>>> = {
  go: { test: 'tests', vet: 'lints', build: 'lints', fmt: 'lints' },
  cargo: {
    test: 'tests',
    nextest: 'tests',
    bench: 'tests',
    clippy: 'lints',
    fmt: 'lints',
    check: 'lints',
    build: 'lints',
  },
  deno: { test: 'tests', lint: 'lints', fmt: 'lints', check: 'lints' },
  bun: { test: 'tests' },
  dotnet: { test: 'tests', build: 'lints', format: 'lints' },
  mix: { test: 'tests', format: 'lints' },
  swift: { test: 'tests', build: 'lints' },
  zig: { test: 'tests', build: 'lints' },
  stack: { test: 'tests' },
  cabal: { test: 'tests' },
  lein: { test: 'tests' },
  dart: { test: 'tests', analyze: 'lints' },
  flutter: { test: 'tests', analyze: 'lints' },
  rails: { test: 'tests' },
  'manage.py': { test: 'tests' },
};
const VERB_CONFIGS: Readonly<Record<string, RegExp>> = {
  cargo: /^(?:clippy|\.clippy|nextest|rustfmt)\.toml$/,
  deno: /^deno\.jsonc?$/,
  bun: /^bunfig\.toml$/,
  dotnet: /\.runsettings$/,
  dart: /^analysis_options\.yaml$/,
  flutter: /^analysis_options\.yaml$/,
};

/** undefined: the program is not known, so that each file that it names counts as a checker. */
export function toolOf(program: string, args: readonly string[]): Tool | undefined {
  const name = program.replace(/\.(?:cmd|exe|[cm]?js|phar)$/, '');
  if (LOOKS.has(name)) return { kind: 'looks', configs: undefined, key: name };
  const found = ROWS.find(([names]) => names.test(name));
  if (found !== undefined) return { kind: found[1], configs: found[2], key: name };
  const verb = args.find((word) => !/^[-+]/.test(word)) ?? '';
  const kind = VERBS[name]?.[verb];
  if (kind !== undefined) return { kind, configs: VERB_CONFIGS[name], key: name };
  if (name === 'node' && args.some((word) => /^--test(?:-\w|$)/.test(word)))
    return { kind: 'tests', configs: undefined, key: name };
  return undefined;
}

const TEST_FOLDER = /(?:^|\/)(?:__tests__|tests?|specs?|e2e|__snapshots__|testdata|cypress|features)\//i;
const TEST_NAME = new RegExp(
  [
    '[._-](?:test|tests|spec|specs|e2e|cy)\\.\\w+$',
    '^test[_-][^/]*\\.\\w+$',
    '^(?:tests?|specs?|conftest)\\.\\w+$',
    '(?:Test|Tests|TestCase|Spec|IT)\\.(?:java|kt|kts|scala|groovy|cs|fs|vb|php|swift)$',
    '\\.(?:bats|t|snap|feature)$',
  ].join('|'),
);

/** The files that programs of one language load. */
const LANGUAGES: readonly (readonly [programs: RegExp, files: RegExp])[] = [
  [
    /^(?:node|bun|deno|vitest|jest|mocha|_mocha|ava|tap|tape|uvu|jasmine|japa|lab|playwright|cypress|wdio|karma|ng)$/,
    /\.(?:[cm]?[jt]sx?|vue|svelte)$/,
  ],
  [/^(?:py|nose|unittest|tox|nox|behave|robot|manage)/, /\.(?:py|pyi|robot)$/],
  [/^go$/, /\.go$/],
  [/^cargo$/, /\.rs$/],
  [/^(?:rspec|cucumber|rails)$/, /\.rb$/],
  [/^(?:phpunit|pest|codecept)$/, /\.php$/],
  [/^(?:mvn|gradle|ant|sbt|lein)/, /\.(?:java|kt|kts|scala|groovy|clj)$/],
  [/^(?:bats|shellspec|shunit2)$/, /\.(?:sh|bash|bats)$/],
];

/** A file that the tests of this program are made of, by its name or its folder. */
export function isTestNamed(path: string, program: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!TEST_FOLDER.test(path) && !TEST_NAME.test(name)) return false;
  const own = LANGUAGES.find(([programs]) => programs.test(program))?.[1];
  // Data in a folder of tests is of any kind.
  return own === undefined || own.test(name) || !LANGUAGES.some(([, files]) => files.test(name));
}

/** Configuration that several tools share: a section of it counts for the tool that it names. */
export const SHARED_CONFIGS = ['pyproject.toml', 'setup.cfg', 'tox.ini'];
