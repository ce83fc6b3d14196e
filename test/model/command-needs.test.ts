import { describe, expect, it } from 'vitest';
import { needsOf } from '../../src/model/command-needs.ts';

const program = (name: string) => ({ type: 'program', name });
const file = (path: string, runs = false) => ({ type: 'file', path, runs });
const script = (name: string) => ({ type: 'script', name });
const target = (name: string) => ({ type: 'target', name });

describe('what a command needs before it can run', () => {
  it.each<[string, object[]]>([
    ['jq . a.json', [program('jq')]],
    ['test -f a.txt', []],
    ['[ -f a.txt ] && ! jq . a', [program('jq')]],
    ['CI=1 FOO=x jq .', [program('jq')]],
    ['if test -f a; then jq .; fi', [program('jq')]],
    ['for x in a b; do jq $x; done', [program('jq')]],
    ['jq . < in > out 2>&1', [program('jq')]],
    ['timeout 60 jq .', [program('timeout'), program('jq')]],
    ['./check.sh --all', [file('./check.sh', true)]],
    ['bin/check', [file('bin/check', true)]],
    ['/usr/bin/jq .', []],
    ['sh check.sh', [program('sh'), file('check.sh')]],
    ['node check.mjs a', [program('node'), file('check.mjs')]],
    ['python3 -m pytest', [program('python3')]],
    ['npm run check -- --all', [program('npm'), script('check')]],
    ['npm test', [program('npm'), script('test')]],
    ['pnpm run check', [program('pnpm'), script('check')]],
    ['npm run check -w packages/a', [program('npm')]],
    ['npm ci && npm run check', [program('npm'), program('npm'), script('check')]],
    ['make check X=1', [program('make'), target('check')]],
    ['make -C sub check', [program('make')]],
    ['cd sub && npm run check && sh a.sh', [program('npm'), program('sh')]],
    ['$RUNNER check', []],
    ['jq "$(cat a)"', []],
    ['', []],
  ])('%s', (command, needs) => {
    expect(needsOf(command)).toEqual(needs);
  });
});
