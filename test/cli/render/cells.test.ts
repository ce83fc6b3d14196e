import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cut, wrap } from '../../../src/cli/render/cells.ts';

describe('a text that is wrapped', () => {
  it.each([
    ['one two three', 7, ['one two', 'three']],
    ['one two three', 8, ['one two', 'three']],
    ['unbreakable', 4, ['unbr', 'eaka', 'ble']],
    ['a unbreakable', 4, ['a', 'unbr', 'eaka', 'ble']],
    ['登录页面 和它', 5, ['登录', '页面', '和它']],
    ['', 5, ['']],
    ['日本', 1, ['日', '本']],
  ])('%j in %d columns', (text, width, lines) => {
    expect(wrap(text, width)).toEqual(lines);
  });

  it('keeps each character, and has no line too wide', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '日', 'e\u0301', '👩‍👩‍👧', '…') });
    const property = fc.property(text, fc.integer({ min: 2, max: 40 }), (given, width) => {
      const lines = wrap(given, width);
      expect(lines.join('').replaceAll(' ', '')).toBe(given.replaceAll(' ', ''));
      for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    });
    fc.assert(property);
  });
});

describe('a text that is cut', () => {
  it.each([
    ['short', 9, 'short'],
    ['exactly', 7, 'exactly'],
    ['too long', 5, 'too …'],
    ['登录页面', 8, '登录页面'],
    ['登录页面', 7, '登录页…'],
    ['登录页面', 6, '登录…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['日', 1, '…'],
    ['a', 0, ''],
  ])('%j in %d columns', (text, width, shown) => {
    expect(cut(text, width)).toBe(shown);
  });
});
