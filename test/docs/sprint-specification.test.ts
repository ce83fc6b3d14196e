import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isTitle } from './is-title.ts';

const FIRST = 282;
const LAST = 460;

const file = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const isFile = (path: string): boolean => existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)));

const rows = file('docs/sprint-specification.md')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => {
    const [, range = '', , why = ''] = line.split('|').map((cell) => cell.trim());
    const [, from = '', to = ''] = /^(\d+)–(\d+)$/.exec(range) ?? [];
    const [, path, title] = /^`(test\/[^`]+\.test\.ts)`: (.+)$/.exec(why) ?? [];
    return { line, from: Number(from), to: Number(to), why, path, title };
  });

describe('the table of docs/sprint-specification.md', () => {
  it('covers each line of the specification, in order and without a gap', () => {
    let next = FIRST;
    const gaps: string[] = [];
    for (const { line, from, to } of rows) {
      if (!(from <= next && from <= to && to >= next - 1)) gaps.push(line);
      next = Math.max(next, to + 1);
    }
    expect(gaps).toEqual([]);
    expect([rows[0]?.from, next - 1]).toEqual([FIRST, LAST]);
  });

  it('names a test that is there, or says why squad does something else', () => {
    const wrong = rows.filter(({ why, path, title }) => {
      if (path === undefined || title === undefined) return !/^declined: .{20,}$/.test(why);
      return !isFile(path) || !isTitle(file(path), title);
    });
    expect(wrong.map(({ line }) => line)).toEqual([]);
  });

  it('would see a title that is not there', () => {
    const [{ path = '', title = '' } = {}] = rows.filter((row) => row.path !== undefined);
    expect(isTitle(file(path), title)).toBe(true);
    expect(isTitle(file(path), `${title} too`)).toBe(false);
  });
});
