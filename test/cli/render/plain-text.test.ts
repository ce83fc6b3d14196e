import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { plainLine, plainText } from '../../../src/text/plain-text.ts';
import { allowedMs } from '../../support/busy-machine.ts';

/** Whatever a terminal might obey: C0 but newline and tab, DEL, C1, and what turns the reading direction. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe('plainText', () => {
  it.each([
    ['colour', '\u001b[31mred\u001b[0m', 'red'],
    ['24-bit colour', '\u001b[38;2;1;2;3mred', 'red'],
    ['clear screen', '\u001b[2J\u001b[H!', '!'],
    ['window title', '\u001b]0;owned\u0007ok', 'ok'],
    ['window title, ended by ST', '\u001b]0;owned\u001b\\ok', 'ok'],
    ['a link', '\u001b]8;;https://example.invalid\u0007text\u001b]8;;\u0007', 'text'],
    ['C1 CSI', '\u009b31mred', 'red'],
    ['carriage return', 'safe\rEVIL', 'safe\\u000dEVIL'],
    ['CRLF', 'one\r\ntwo', 'one\ntwo'],
    ['backspace', 'rm\b\bls', 'rm\\u0008\\u0008ls'],
    ['bell', 'a\u0007b', 'a\\u0007b'],
    ['NUL', 'a\0b', 'a\\u0000b'],
    ['delete', 'a\u007fb', 'a\\u007fb'],
    ['vertical tab and form feed', 'a\u000bb\u000cc', 'a\\u000bb\\u000cc'],
    ['next line (C1)', 'a\u0085b', 'a\\u0085b'],
    ['bidi override', 'user\u202etxt.exe', 'user\\u202etxt.exe'],
    ['bidi isolate', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['Arabic letter mark', 'a\u061cb', 'a\\u061cb'],
    ['tab and newline stay', 'a\tb\nc', 'a\tb\nc'],
    ['other scripts stay', 'Zwölf 日本 👩‍💻 e\u0301', 'Zwölf 日本 👩‍💻 e\u0301'],
    ['nothing', '', ''],
  ])('%s', (_, text, shown) => {
    expect(plainText(text)).toBe(shown);
  });

  it.each([
    ['an escape alone', 'a\u001b'],
    ['an unterminated CSI', 'a\u001b[31'],
    ['an unterminated OSC', '\u001b]0;title'],
    ['a device control string', '\u001bPq#0\u001b\\'],
    ['an unterminated DCS', '\u001bP1$r'],
    ['a privacy message', '\u001b^x\u001b\\'],
    ['C1 DCS and ST', '\u0090x\u009c'],
    ['a sequence that stripping would put together', '\u001b\u001b[31m[31m'],
    ['and one of OSC', '\u001b\u001b]0;a\u0007]0;b\u0007'],
  ])('%s leaves nothing that a terminal obeys', (_, text) => {
    expect(plainText(text)).not.toMatch(OBEYED);
  });

  const nasty = fc
    .array(
      fc.oneof(
        fc.constantFrom('\u001b', '[', ']', '\u009b', '\u009d', '31m', '0;', '\u0007', '\\', '\r', '\n', '?', 'P'),
        fc.string({ unit: 'binary', maxLength: 3 }),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));

  test.prop([nasty])('no control character survives', (text) => {
    expect(plainText(text)).not.toMatch(OBEYED);
    expect(plainLine(text)).not.toMatch(OBEYED);
    expect(plainLine(text)).not.toMatch(/[\n\t]/);
  });

  it('takes a megabyte of half sequences in linear time', () => {
    const from = performance.now();
    for (const half of ['\u001b[', '\u001b]', '\u001b[1;', '\u009b', '\u001b]8;;']) plainText(half.repeat(200_000));
    expect(performance.now() - from).toBeLessThan(allowedMs(5000));
  });
});

describe('plainLine', () => {
  it.each([
    ['  a\n\n b\t c ', 200, 'a b c'],
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['', 6, ''],
  ])('%j in %i characters', (text, width, line) => {
    expect(plainLine(text, width)).toBe(line);
  });
});
