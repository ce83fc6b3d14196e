import { describe, expect, it } from 'vitest';
import { cannotRun, isProgramMissing, saysCannotRun, mainLine } from '../../src/text/cannot-run.ts';

const NPM_TAIL =
  'npm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\nnpm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log\n';

/** As the programs print it: exit code, output, and the line that says most. */
const CANNOT: readonly [string, number, string, string][] = [
  ['npm, no such script', 1, `npm error Missing script: "check"\n${NPM_TAIL}`, 'npm error Missing script: "check"'],
  ['npm 8, no such script', 1, 'npm ERR! Missing script: "check"\nnpm ERR! \n', 'npm ERR! Missing script: "check"'],
  [
    'npm, no package',
    254,
    "npm error code ENOENT\nnpm error syscall open\nnpm error path /a/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/a/package.json'\nnpm error enoent This is related to npm not being able to find a file.\n",
    "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/a/package.json'",
  ],
  [
    'a script of npm whose program is missing',
    127,
    '\n> x@1.0.0 test\n> jest\n\nsh: 1: jest: not found\n',
    'sh: 1: jest: not found',
  ],
  [
    'pnpm, no such script',
    1,
    ' ERR_PNPM_NO_SCRIPT  Missing script: check\n\nCommand "check" not found.\n',
    'ERR_PNPM_NO_SCRIPT  Missing script: check',
  ],
  [
    'pnpm, no package',
    1,
    ' ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND  No package.json was found in "/a".\n',
    'ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND  No package.json was found in "/a".',
  ],
  [
    'yarn 1',
    1,
    'yarn run v1.22.22\nerror Command "check" not found.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.\n',
    'error Command "check" not found.',
  ],
  [
    'yarn 4',
    1,
    'Usage Error: Couldn\'t find a script named "check".\n\n$ yarn run ...\n',
    'Usage Error: Couldn\'t find a script named "check".',
  ],
  ['bun', 1, 'error: Script not found "check"\n', 'error: Script not found "check"'],
  ['deno', 1, 'Task not found: check\nAvailable tasks:\n', 'Task not found: check'],
  [
    'make, no such target',
    2,
    "make: *** No rule to make target 'check'.  Stop.\n",
    "make: *** No rule to make target 'check'.  Stop.",
  ],
  [
    'make, no makefile',
    2,
    'make: *** No targets specified and no makefile found.  Stop.\n',
    'make: *** No targets specified and no makefile found.  Stop.',
  ],
  ['just', 1, 'error: Justfile does not contain recipe `check`\n', 'error: Justfile does not contain recipe `check`'],
  [
    'cargo',
    101,
    'error: no such command: `nextest`\n\n\tView all installed commands with `cargo --list`\n',
    'error: no such command: `nextest`',
  ],
  [
    'rake',
    1,
    "rake aborted!\nDon't know how to build task 'check' (See the list of available tasks with `rake --tasks`)\n",
    "Don't know how to build task 'check' (See the list of available tasks with `rake --tasks`)",
  ],
  ['a program that is not there', 127, 'sh: 1: nosuch: not found\n', 'sh: 1: nosuch: not found'],
  [
    'a program that may not be run',
    126,
    'sh: 1: ./check.sh: Permission denied\n',
    'sh: 1: ./check.sh: Permission denied',
  ],
  [
    'a script of the shell',
    2,
    'sh: 0: cannot open check.sh: No such file\n',
    'sh: 0: cannot open check.sh: No such file',
  ],
  ['a module of Python', 1, '/usr/bin/python3: No module named pytest\n', '/usr/bin/python3: No module named pytest'],
  [
    'a file of Python',
    2,
    "python: can't open file '/a/check.py': [Errno 2] No such file or directory\n",
    "python: can't open file '/a/check.py': [Errno 2] No such file or directory",
  ],
  [
    'a file of Node',
    1,
    "node:internal/modules/cjs/loader:1568\n  throw err;\n  ^\n\nError: Cannot find module '/a/check.js'\n    at Module._resolveFilename {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v24.11.1\n",
    "Error: Cannot find module '/a/check.js'",
  ],
];

const RUNS: readonly [string, number | null, string, string][] = [
  ['a suite that is red', 1, '> x@1 test\n> node --test\n\nnot ok 1 - adds\n1 test failed\n', 'not ok 1 - adds'],
  [
    'a red suite under npm',
    1,
    '3 tests failed\nnpm error Lifecycle script `test` failed with error:\nnpm error code 1\nnpm error path /a\nnpm error workspace x@1\nnpm error location /a\nnpm error command failed\nnpm error command sh -c jest\n',
    '3 tests failed',
  ],
  ['a rule of make that fails', 2, 'FAIL sum\nmake: *** [Makefile:2: test] Error 1\n', 'FAIL sum'],
  ['a test about a missing script', 1, '  expected: Missing script: "a"\n  1 failed\n', '1 failed'],
  [
    'a test that requires a missing module',
    1,
    "Error: Cannot find module './sum'\n  requireStack: [ '/a/test.js' ]\n}\n1 failed\n",
    '1 failed',
  ],
  [
    'an install that fails',
    1,
    'npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\nnpm error\nnpm error Found: react@19\n',
    'npm error ERESOLVE unable to resolve dependency tree',
  ],
  ['no output', 1, '(no output)', '(no output)'],
  ['a signal', null, 'half a li', 'half a li'],
];

describe('a command that cannot run at all', () => {
  it.each(CANNOT)('%s', (_, code, output, line) => {
    expect([cannotRun(code, output), mainLine(output)]).toEqual([true, line]);
    for (const joint of ['\n', ` ${line}\n`]) {
      expect(saysCannotRun(`a: \`a command\` exited with ${code}:${joint}${output}`)).toBe(true);
    }
  });
});

describe('a command that runs and fails', () => {
  it.each(RUNS)('%s', (_, code, output, line) => {
    expect([cannotRun(code, output), mainLine(output)]).toEqual([false, line]);
  });
});

describe('a test or file that failed', () => {
  it.each<[runner: string, output: string, line: string]>([
    [
      'vitest',
      ' RUN  v3\n\n \u001b[31mFAIL\u001b[39m  src/a.test.ts > adds\nAssertionError: 3\n   Duration 2.43s\n',
      'FAIL  src/a.test.ts > adds',
    ],
    ['vitest, one by one', ' ❯ src/a.test.ts (2)\n   × adds 4ms\n\n Tests  1 failed | 1 passed (2)\n', '× adds 4ms'],
    ['jest', 'FAIL src/a.test.js\n  ● adds\n\nTests: 1 failed, 1 total\nTime: 1 s\n', 'FAIL src/a.test.js'],
    ['node, as text', '✔ one (1ms)\n✖ adds (2ms)\nℹ tests 2\nℹ duration_ms 40\n', '✖ adds (2ms)'],
    ['TAP', 'ok 1 - one\nnot ok 2 - adds\n1..2\n# fail 1\n', 'not ok 2 - adds'],
    [
      'pytest',
      '=== short test summary info ===\nFAILED tests/test_a.py::test_add - assert 1 == 2\n=== 1 failed in 0.1s ===\n',
      'FAILED tests/test_a.py::test_add - assert 1 == 2',
    ],
    ['go', '--- FAIL: TestAdd (0.00s)\n    a_test.go:9: 3\nFAIL\nexit status 1\n', '--- FAIL: TestAdd (0.00s)'],
    ['cargo', 'test adds ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed\n', 'test adds ... FAILED'],
    ['tsc', 'src/a.ts(3,7): error TS2322: Type\n\nFound 1 error.\n', 'src/a.ts(3,7): error TS2322: Type'],
    [
      'eslint',
      '/p/src/a.js\n  3:1  error  No unused  no-unused-vars\n\n✖ 1 problem (1 error)\n',
      '3:1  error  No unused  no-unused-vars',
    ],
    ['npm 8 around it', 'not ok 2 - adds\nnpm ERR! Test failed.  See above for more details.\n', 'not ok 2 - adds'],
    ['a program that names none', 'working\nthe last word\n', 'the last word'],
  ])('is what is said of %s', (_, output, line) => {
    expect(mainLine(output)).toBe(line);
  });
});

it('a command that passes can run, whatever it prints', () => {
  expect(cannotRun(0, 'npm error Missing script: "check"')).toBe(false);
});

describe('a program that is not on this machine', () => {
  it.each([
    ['jq --all .', 127, '/bin/sh: 1: jq: not found\n', true],
    ['cd x && jq .', 127, 'sh: line 1: jq: command not found\n', true],
    ['npm run check', 127, '> x@1 check\n> jest\n\nsh: 1: jest: not found\n', false],
    ['./check.sh', 127, 'sh: 1: ./check.sh: not found\n', false],
    ['make check', 2, "make: *** No rule to make target 'check'.  Stop.\n", false],
    ['echo jq: not found; false', 1, 'jq: not found\n', false],
  ])('%s', (command, code, output, isMissing) => {
    expect(isProgramMissing(command, code, output)).toBe(isMissing);
  });
});
