import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../../src/playbooks/sprint');
/** What a sprint, and the planning of requests, do stage by stage. */
const LISTS = ['list.ts', 'review-list.ts'];
const MOST_LINES = 900;

/** Lines that are neither blank nor a comment. */
function codeLines(text: string): number {
  const code = text.replaceAll(/^\s*\/\*[^]*?\*\/\s*$/gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

it('counts no comment and no blank line', () => {
  expect(codeLines('/** One.\n * Two. */\nconst a = 1;\n\n  // Three.\nconst b = "// 4"; // 4\n')).toBe(2);
});

it(`has at most ${MOST_LINES} lines of code beside its lists`, () => {
  const files = readdirSync(FOLDER).toSorted();
  expect(files).toEqual(expect.arrayContaining(LISTS));
  const sizes = files
    .filter((file) => !LISTS.includes(file))
    .map((file) => [file, codeLines(readFileSync(join(FOLDER, file), 'utf8'))] as const);
  const all = sizes.reduce((sum, [, lines]) => sum + lines, 0);
  expect(all, JSON.stringify(Object.fromEntries(sizes))).toBeLessThanOrEqual(MOST_LINES);
  expect(all).toBeGreaterThan(500);
});
