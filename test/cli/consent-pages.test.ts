import { describe, expect, it } from 'vitest';
import { pagesOf } from '../../src/cli/board/pages.ts';
import { trustLines } from '../../src/squad/preflight/consent.ts';

const lines = (run: string): string[] => trustLines([{ from: 'verify', run, where: 'squad.yaml:1' }]);

describe('the list that a person agrees to', () => {
  it.each([
    ['a long row of blanks, by its length', `true${' '.repeat(4000)}; touch PWN`, 'true ⟨4000 spaces⟩ ; touch PWN'],
    ['tabs', 'true\t\ttouch PWN', String.raw`true\t\ttouch PWN`],
    ['what turns the direction', 'true \u202e;touch PWN', String.raw`true \u202e;touch PWN`],
    ['what hides on a terminal', 'true \u001b[8m; PWN\u001b[0m', String.raw`true \u001b[8m; PWN\u001b[0m`],
    ['what a title of a window would swallow', '\u001b]0;touch PWN\u0007', String.raw`\u001b]0;touch PWN\u0007`],
    ['NUL', 'true\u0000PWN', String.raw`true\u0000PWN`],
    ['blanks that are no space', 'a\u00a0\u2800\ufe0fb', String.raw`a\u00a0\u2800\ufe0fb`],
    ['letters that pass for Latin ones', 'npm t\u0435st', String.raw`npm t\u0435st`],
  ])('shows %s', (_title, run, expected) => expect(lines(run)).toEqual([`squad.yaml:1: verify: ${expected}`]));

  it('leaves words of one script as they are', () => {
    expect(lines('echo привет über 日本')).toEqual(['squad.yaml:1: verify: echo привет über 日本']);
  });

  it('indents further lines, so that none passes for an item', () => {
    expect(lines('true\nsquad.yaml:2: verify: false')).toEqual([
      'squad.yaml:1: verify: true',
      '    squad.yaml:2: verify: false',
    ]);
  });

  it.each([1, 5, 24, 60, 5000])('comes in pages of %i rows that lose nothing', (rows) => {
    const text = Array.from(
      { length: 40 },
      (_, index) => `${index} ${'x'.repeat(index * 17)}日本 ${'y'.repeat(index)}`,
    );
    const pages = pagesOf(text, { columns: 50, rows });
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(Math.max(rows - 3, 3));
    const plain = (all: readonly string[]): string => all.join('').replaceAll(' ', '');
    expect(plain(pages.flat())).toBe(plain(text));
  });
});
