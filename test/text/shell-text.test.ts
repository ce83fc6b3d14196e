import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readShell } from '../../src/text/shell-text.ts';

function values(text: string): string[] | string {
  const read = readShell(text);
  if (read.type === 'unreadable') return read.what;
  return read.tokens.map((token) => (token.type === 'word' ? token.value : token.text));
}

/** Pieces of words; a shell is asked what they mean together. */
const PIECES = [
  'a',
  'tools/h.sh',
  '"b c"',
  "'d $e'",
  String.raw`\"`,
  String.raw`"\$f \\ \g"`,
  "''",
  'x=1',
  '#',
  String.raw`\ `,
  '{',
  '}',
  ']',
  ':',
  '%',
  '@',
  'é',
];

describe('the words of a shell', () => {
  it('are those that the shell makes of them', () => {
    let state = 7;
    const draw = (most: number): number => (state = (state * 1103515245 + 12345) % 2 ** 31) % most;
    const lines = Array.from({ length: 400 }, () => {
      const words = Array.from({ length: 1 + draw(4) }, () =>
        Array.from({ length: 1 + draw(4) }, () => PIECES[draw(PIECES.length)]).join(''),
      );
      return words.join(['  ', '\t', ' \\\n'][draw(3)] ?? ' ');
    });
    const script = lines.map((line) => `printf '%s\\036' word ${line}\nprintf '\\035'\n`).join('');
    const said = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\u001d').slice(0, -1);
    expect(said).toHaveLength(lines.length);
    for (const [index, line] of lines.entries()) {
      expect(values(`word ${line}`), line).toEqual(said[index]?.split('\u001e').slice(0, -1));
    }
  });

  it.each<[string, string[]]>([
    ['a&&b||c|d;e&(f)\ng', ['a', '&&', 'b', '||', 'c', '|', 'd', ';', 'e', '&', '(', 'f', ')', '\n', 'g']],
    ['a <b >>c 2>&1 >|d', ['a', '<', 'b', '>>', 'c', '2>&', '1', '>|', 'd']],
    ['a # b\nc', ['a', '\n', 'c']],
    ['[ -f a ]', ['[', '-f', 'a', ']']],
    ['', []],
  ])('%s', (text, words) => {
    expect(values(text)).toEqual(words);
  });

  it.each<[string, string, string[]]>([
    ['$HOME/x', '', ['HOME']],
    ['"a${B}c$D"', 'a', ['B', 'D']],
    ['~/x', '', ['HOME']],
    ['a~', 'a~', []],
    ['a$', 'a$', []],
    ["'$A'", '$A', []],
    ['$$', '', ['$']],
  ])('%s begins with %j and has %j', (text, value, variables) => {
    const read = readShell(text);
    expect(read.type === 'tokens' ? read.tokens : read).toMatchObject([
      { type: 'word', start: 0, end: text.length, value, variables },
    ]);
  });

  it.each([
    '$(a)',
    '`a`',
    '"$(a)"',
    '$((1))',
    '${a:-b}',
    "$'a'",
    'a*',
    'a?b',
    '[ab]c',
    '{a,b}',
    '{1..3}',
    '"a',
    "'a",
    'a\\',
    '<<a',
    '<(a)x$(',
  ])('%s cannot be read', (text) => {
    expect(typeof values(text)).toBe('string');
  });

  it('takes no longer than the text is long', () => {
    const started = performance.now();
    for (const piece of ['a', '\\', '"', "'", '$', '{', '{a', '1', '<', ' ', '#', '[', 'a='])
      readShell(piece.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
