import { describe, expect, it } from 'vitest';
import { withBaseParts } from '../../../src/model/checker/base-manifest.ts';
import { changedCheckers, type FoundChange } from '../../../src/model/checker/changed-checkers.ts';
import { checkedWith } from '../../../src/model/checker/checked-with.ts';

type Files = Readonly<Record<string, string>>;

/** What of these files counts as changed, if the work writes all of them in another way. */
function changedBy(command: string, files: Files, now: Files = {}, protect: readonly string[] = []): string[] {
  const then = (own: Files) => checkedWith([command], (path) => own[path] ?? null);
  const after = { ...files, ...now };
  const changes = Object.keys(after).map((path) => {
    return { path, status: files[path] === undefined ? ('added' as const) : ('modified' as const) };
  });
  return changedCheckers(changes, { base: then(files), now: then(after) }, protect).map(textOf);
}

function textOf({ path, part, isProtected }: FoundChange): string {
  return `${path}${part === undefined ? '' : ` ${part}`}${isProtected ? ' !' : ''}`;
}

const manifest = (scripts: Files, more: object = {}): string => JSON.stringify({ scripts, ...more });

/** All that a repository may have; each row says what of it its command checks with. */
const TREE: Files = {
  'test.sh': '. ./lib.sh\nnode tool.js\n',
  'lib.sh': 'say() { echo "$1"; }\n',
  'tool.js': '',
  'my tests/run it.sh': '',
  'sub/check.py': '',
  'sub/test/one.test.js': '',
  'sub/package.json': manifest({ test: 'node --test' }),
  'test/one.test.js': '',
  'test/helper.js': '',
  'src/app.js': '',
  'src/app.test.ts': '',
  'tests/test_app.py': '',
  'conftest.py': '',
  'app.py': '',
  'pkg/app_test.go': '',
  'vitest.config.ts': '',
  'jest.config.js': '',
  'eslint.config.js': '',
  'tsconfig.json': '',
  'expected.txt': '',
  'README.md': '',
};

const ROWS: readonly (readonly [command: string, files: readonly string[]])[] = [
  // Files that are named.
  ['sh test.sh', ['test.sh', 'lib.sh', 'tool.js']],
  ['./test.sh', ['test.sh', 'lib.sh', 'tool.js']],
  ['bash -e -o pipefail ./test.sh', ['test.sh', 'lib.sh', 'tool.js']],
  ['node tool.js', ['tool.js']],
  ['node ./tool.js expected.txt', ['tool.js', 'expected.txt']],
  ['node tool.js < expected.txt', ['tool.js', 'expected.txt']],
  ['node tool.js > README.md', ['tool.js']],
  [
    'node --import ./tool.js --test',
    ['tool.js', 'sub/test/one.test.js', 'test/one.test.js', 'test/helper.js', 'src/app.test.ts'],
  ],
  ['node -e "require(\'./tool.js\')"', ['tool.js']],
  ['python3 sub/check.py', ['sub/check.py']],
  ['diff expected.txt out.txt', ['expected.txt']],
  ['grep -qf expected.txt README.md', []],
  ['grep -q -f expected.txt README.md', ['expected.txt']],
  // Shell lines.
  ['npm --version && sh test.sh', ['test.sh', 'lib.sh', 'tool.js']],
  ['cd sub && python check.py', ['sub/check.py']],
  ['(cd sub && python check.py) && node tool.js', ['sub/check.py', 'tool.js']],
  ['cd sub; python ./check.py; cd ..; node tool.js', ['sub/check.py', 'tool.js']],
  ['sh -c "cd sub && python check.py"', ['sub/check.py']],
  [`bash -lc 'node "tool.js"'`, ['tool.js']],
  [`sh 'my tests/run it.sh'`, ['my tests/run it.sh']],
  ['sh my\\ tests/run\\ it.sh', ['my tests/run it.sh']],
  ['CI=1 DEBUG="" node tool.js', ['tool.js']],
  ['env CI=1 timeout 60 nice -n 5 node tool.js', ['tool.js']],
  ['EXPECTED=expected.txt node tool.js', ['tool.js', 'expected.txt']],
  ['if node tool.js; then true; else exit 1; fi', ['tool.js']],
  ['! node tool.js', ['tool.js']],
  ['for f in sub/*.py; do python "$f"; done', []],
  ['test "$(node tool.js)" = ok', ['tool.js']],
  ['[ `python sub/check.py` = ok ]', ['sub/check.py']],
  ['sh "$PWD/test.sh"', ['test.sh', 'lib.sh', 'tool.js']],
  ['set -e\nnode tool.js\npython sub/check.py', ['tool.js', 'sub/check.py']],
  ['find . -name "*.json" -exec node tool.js {} \\;', ['tool.js']],
  ['ls sub | xargs node tool.js', ['tool.js']],
  // What they look at is no check.
  ['test -f src/app.js && grep -q x README.md', []],
  ['cat README.md | wc -l', []],
  ['node src/app.js | grep -q ok', []],
  ['sh test.sh | grep -q PASS', ['test.sh', 'lib.sh', 'tool.js']],
  ['node --check src/app.js', []],
  ['python -m py_compile app.py', []],
  ['sh -n test.sh', []],
  // Tools that find tests, and tools with rules.
  [
    'npx vitest run',
    ['sub/test/one.test.js', 'test/one.test.js', 'test/helper.js', 'src/app.test.ts', 'vitest.config.ts'],
  ],
  ['npx vitest@3 run src/app.test.ts', ['src/app.test.ts', 'vitest.config.ts']],
  ['cd sub && node --test', ['sub/test/one.test.js']],
  ['node --test test/', ['test/one.test.js', 'test/helper.js']],
  ['node --test test/*.test.js', ['test/one.test.js']],
  ['node --test "test/**/*.test.js"', ['test/one.test.js']],
  ['python -m pytest tests/test_app.py', ['tests/test_app.py', 'conftest.py']],
  ['poetry run pytest tests/', ['tests/test_app.py', 'conftest.py']],
  ['go test ./pkg/...', ['pkg/app_test.go']],
  ['npx eslint src', ['eslint.config.js']],
  ['tsc -p tsconfig.json --noEmit', ['tsconfig.json']],
  ['./node_modules/.bin/eslint --max-warnings 0 src/app.js', ['eslint.config.js']],
  ['npm ci', []],
  ['npm --prefix sub test', ['sub/test/one.test.js']],
  ['yarn --cwd sub test', ['sub/test/one.test.js']],
  ['pnpm -C sub run test', ['sub/test/one.test.js']],
  ['true', []],
];

describe('package.json as it was', () => {
  it.each<[now: object, base: object, parts: string[], result: object | undefined]>([
    [
      { scripts: { test: 'true', new: 'x' }, dependencies: { a: '1' } },
      { scripts: { test: 'node tool.js', lint: 'y' } },
      ['script test'],
      { scripts: { test: 'node tool.js', new: 'x', lint: 'y' }, dependencies: { a: '1' } },
    ],
    [
      { scripts: { pretest: 'rm -r test', test: 'x' } },
      { scripts: { test: 'x' } },
      ['script test'],
      { scripts: { test: 'x' } },
    ],
    [{ jest: { b: 2 }, x: 1 }, { jest: { a: 1 } }, ['“jest”'], { jest: { a: 1 }, x: 1, scripts: {} }],
    [{ jest: { b: 2 }, x: 1 }, { x: 0 }, ['“jest”'], { x: 1, scripts: {} }],
    [{}, { scripts: {} }, [], undefined],
  ])('%o over %o', (base, before, parts, result) => {
    const made = withBaseParts(JSON.stringify(base), JSON.stringify(before), parts);
    expect(made === undefined ? undefined : JSON.parse(made)).toEqual(result);
  });
});

describe('the files that a command checks with', () => {
  it.each(ROWS)('%s', (command, files) => {
    expect(changedBy(command, TREE).toSorted()).toEqual(files.toSorted());
  });

  const SCRIPTS: readonly (readonly [command: string, before: Files, now: Files, parts: readonly string[]])[] = [
    ['npm test', { test: 'node tool.js' }, { test: 'true' }, ['package.json script test', 'tool.js']],
    ['npm t', { test: 'sh test.sh' }, { test: 'sh test.sh' }, ['test.sh', 'lib.sh', 'tool.js']],
    [
      'npm test',
      { test: 'node tool.js' },
      { test: 'node tool.js', pretest: 'x' },
      ['package.json script test', 'tool.js'],
    ],
    [
      'npm run check',
      { check: 'npm run a && npm run b', a: 'node tool.js', b: 'true' },
      { check: 'npm run a && npm run b', a: 'true', b: 'true' },
      ['package.json script a', 'tool.js'],
    ],
    ['npm run check -- src', { check: 'eslint', build: 'x' }, { check: 'eslint', build: 'y' }, ['eslint.config.js']],
    ['pnpm lint', { lint: 'eslint .' }, { lint: 'true' }, ['package.json script lint', 'eslint.config.js']],
    ['yarn lint', {}, {}, []],
    ['yarn eslint src', {}, {}, ['eslint.config.js']],
    ['bun run check', { check: 'node tool.js' }, {}, ['package.json script check', 'tool.js']],
    ['node --run check', { check: 'node tool.js' }, {}, ['package.json script check', 'tool.js']],
    [
      'npm-run-all a b:*',
      { a: 'true', 'b:x': 'node tool.js' },
      { a: 'true', 'b:x': 'true' },
      ['package.json script b:x', 'tool.js'],
    ],
    ['npx concurrently "npm:a" "node tool.js"', { a: 'true' }, { a: 'false' }, ['package.json script a', 'tool.js']],
    ['cd sub && npm run -w . build || npm run build', { build: 'x' }, { build: 'y' }, []],
    ['npm run build && npm test', { build: 'tsc', test: 'true' }, { build: 'tsc', test: 'true' }, ['tsconfig.json']],
    ['npm run new', {}, { new: 'node tool.js' }, ['tool.js']],
  ];
  it.each(SCRIPTS)('%s, where package.json says %o and then %o', (command, before, now, parts) => {
    const files = { ...TREE, 'package.json': manifest(before) };
    expect(changedBy(command, files, { 'package.json': manifest(now) }).toSorted()).toEqual(parts.toSorted());
  });

  const MAKE =
    'CHECK = sub/check.py\nall: build\n\ntest: build\n\t@node tool.js\n\t$(MAKE) lint\n\nlint:\n\tpython $(CHECK)\n\nbuild:\n\techo build\n';
  it.each([
    ['make test', MAKE.replace('node tool.js', 'true'), ['Makefile test', 'tool.js', 'sub/check.py']],
    ['make -j 4 test', `${MAKE}\nother:\n\techo\n`, ['tool.js', 'sub/check.py']],
    ['make lint', MAKE.replace('sub/check.py', 'x.py'), ['Makefile lint', 'sub/check.py']],
    ['make', MAKE.replace('echo build', 'true'), ['Makefile its first target']],
    ['make nothing', MAKE, ['Makefile']],
    ['make test', `include x.mk\n${MAKE}`, ['Makefile', 'tool.js', 'sub/check.py']],
    ['cd sub && make -C .. test', MAKE, ['tool.js', 'sub/check.py']],
  ])('%s', (command, now, parts) => {
    const files = { ...TREE, Makefile: MAKE };
    expect(changedBy(command, files, { Makefile: now }).toSorted()).toEqual(parts.toSorted());
  });

  it('an added file changes no check, but an added configuration of something that was there does', () => {
    const tool = { 'package.json': manifest({ test: 'vitest run' }) };
    expect(changedBy('npm test', tool, { 'vitest.config.ts': '', 'test/new.test.ts': '' })).toEqual([
      'vitest.config.ts',
    ]);
    expect(changedBy('npm test', {}, { ...tool, 'test/new.test.ts': '' })).toEqual([]);
  });

  it('a key or a section of a shared file counts for the tool that it names', () => {
    const before = { 'package.json': manifest({ test: 'jest' }, { jest: { a: 1 }, dependencies: {} }) };
    const other = { 'package.json': manifest({ test: 'jest' }, { jest: { a: 1 }, dependencies: { x: '1' } }) };
    const changed = { 'package.json': manifest({ test: 'jest' }, { jest: { a: 2 }, dependencies: {} }) };
    expect(changedBy('npm test', before, other)).toEqual([]);
    expect(changedBy('npm test', before, changed)).toEqual(['package.json “jest”']);
    const python = { 'pyproject.toml': '[project]\nname = "x"\n[tool.pytest.ini_options]\naddopts = "-x"\n' };
    expect(changedBy('pytest', python, { 'pyproject.toml': `${python['pyproject.toml']}[tool.other]\n` })).toEqual([]);
    expect(changedBy('pytest', python, { 'pyproject.toml': '[project]\nname = "x"\n' })).toEqual([
      'pyproject.toml the settings of pytest',
    ]);
  });

  it('a protected path counts whatever the commands are, and also if it is new', () => {
    const protect = ['tests/**', '*.snap', 'a/{b,c}.txt', 'ci'];
    const files = { 'tests/deep/x.js': '', 'src/x.js': '', 'src/y.snap': '', 'a/b.txt': '', 'a/d.txt': '' };
    expect(changedBy('true', files, { 'tests/new.js': '', 'ci/run': '' }, protect)).toEqual([
      'tests/deep/x.js !',
      'src/y.snap !',
      'a/b.txt !',
      'tests/new.js !',
      'ci/run !',
    ]);
  });

  it('takes linear time, and ends for scripts that name each other', () => {
    const files = { 'package.json': manifest({ a: 'npm run b', b: 'npm run a' }), 'x.sh': 'sh x.sh' };
    expect(changedBy('npm run a && sh x.sh', files)).toEqual(['x.sh']);
    const long = Array.from({ length: 20_000 }, (_, index) => `sh x${index}.sh`).join(' && ');
    expect(checkedWith([long], () => null).files.size).toBe(20_000);
  });
});
