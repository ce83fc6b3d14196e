import { expect, it } from 'vitest';
import { cutBytes } from '../../src/text/cut-bytes.ts';

it.each([
  ['', 0, '', false],
  ['abc', 3, 'abc', false],
  ['abcd', 3, 'abc', true],
  ['éé', 4, 'éé', false],
  ['éé', 3, 'é', true],
  ['😀😀', 7, '😀', true],
  ['😀', 3, '', true],
  ['a\u0000b', 2, 'a\u0000', true],
  ['\ufeffab', 4, '\ufeffa', true],
])('%j has %i bytes: %j', (text, most, cut, isCut) => {
  expect(cutBytes(text, most)).toEqual({ text: cut, isCut });
});
