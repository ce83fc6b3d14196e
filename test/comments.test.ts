import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Contracts, which need more room: who calls, what holds, what happens on abort. */
const PORTS = /^src\/(?:substrate\/ports\/|runtimes\/port\/|runtime\.ts$|playbook\.ts$)/;
const MOST_LINES = 2;
const FRAGMENT = /^(?:What|Of|Whoever|Whose|The same)\b/;

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/${name}`);
const comments = files.flatMap((file) => commentsIn(read(file)).map((one) => ({ ...one, file })));
const api = joined(read('docs/api.md').split('\n'));

/** Blocks, and runs of lines that begin with two slashes. A comment behind code is none of these. */
function commentsIn(text: string): { readonly line: number; readonly lines: readonly string[] }[] {
  const found = text.matchAll(/^[ \t]*(?:\/\*[^]*?\*\/|\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*)/gm);
  return [...found].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split('\n').length,
    lines: comment
      .split('\n')
      .map(withoutMarks)
      .filter((line) => line !== ''),
  }));
}

function withoutMarks(line: string): string {
  return line
    .replace(/^\s*(?:\/\*+|\/\/+|\*(?!\/))?/, '')
    .replace(/\*\/\s*$/, '')
    .trim();
}

function joined(lines: readonly string[]): string {
  return lines.map(withoutMarks).join(' ').replaceAll(/\s+/g, ' ');
}

describe('a comment in src', () => {
  it('is found as a block or as a run of lines', () => {
    const found = commentsIn('/** One. */\nlet a; // no\n  // Two,\n  // three.\n/**\n * Four.\n */\n');
    expect(found).toEqual([
      { line: 1, lines: ['One.'] },
      { line: 3, lines: ['Two,', 'three.'] },
      { line: 5, lines: ['Four.'] },
    ]);
    expect(comments.length).toBeGreaterThan(1000);
  });

  it('does not begin with a fragment: What, Of, Whoever, Whose, The same', () => {
    const wrong = comments.filter(({ lines: [first = ''] }) => FRAGMENT.test(first));
    expect(wrong.map(({ file, line, lines: [first] }) => `${file}:${line}: ${first}`)).toEqual([]);
  });

  it('has at most two lines, except in ports and where docs/api.md shows it', () => {
    const long = comments.filter(({ file, lines }) => lines.length > MOST_LINES && !PORTS.test(file));
    const wrong = long.filter(({ lines }) => !api.includes(joined(lines)));
    expect(wrong.map(({ file, line, lines: [first] }) => `${file}:${line}: ${first}`)).toEqual([]);
  });
});
