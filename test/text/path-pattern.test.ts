import { describe, expect, it } from 'vitest';
import { pathPattern } from '../../src/text/path-pattern.ts';
import { growth } from '../support/growth.ts';

describe('a pattern of paths', () => {
  it.each([
    ['tests/**', ['tests/a.ts', 'tests/a/b.ts'], ['tests', 'my/tests/a.ts', 'testsa/b']],
    ['tests/', ['tests', 'tests/a', 'x/tests/a'], ['testsa']],
    ['*.test.ts', ['a.test.ts', 'src/deep/a.test.ts'], ['a.test.tsx', 'atestts']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['src.ts', 'lib/a.ts']],
    ['**/fixtures/**', ['fixtures/a', 'x/fixtures/a/b'], ['x/fixturesa/b', 'fixtures']],
    ['a?c', ['abc', 'x/abc'], ['ac', 'a/c']],
    ['{unit,e2e}/*.{ts,js}', ['unit/a.ts', 'e2e/b.js'], ['unit/a.py', 'other/a.ts']],
    ['a{b,{c,d}}e', ['abe', 'ace', 'ade'], ['ae', 'abce']],
    ['./scripts/check.sh', ['scripts/check.sh'], ['x/scripts/check.sh', 'scripts/checkxsh']],
    ['a+(b)[c]$', ['a+(b)[c]$'], ['ab']],
    ['x,y', ['x,y'], ['x', 'y']],
    ['**', ['a', 'a/b/c'], []],
  ])('%s', (text, yes, no) => {
    const pattern = pathPattern(text);
    expect(yes.filter((path) => pattern?.test(path) !== true)).toEqual([]);
    expect(no.filter((path) => pattern?.test(path) !== false)).toEqual([]);
  });

  it.each(['', '/', '/etc', './', '{a', 'a}', 'a}{b', '}{', `${'{a,b}'.repeat(7)}x`, 'a'.repeat(1_001)])(
    'is none: %s',
    (text) => expect(pathPattern(text)).toBeUndefined(),
  );

  it('takes no longer for what would go back and forth', () => {
    const pattern = pathPattern('**a'.repeat(80));
    expect(growth((size) => pattern?.test(`${'a'.repeat(size)}b`), 2_000)).toBeLessThan(3);
  });
});
