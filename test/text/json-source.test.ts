import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/text/json-source.ts';
import { parseJson, type Json } from '../../src/text/json.ts';

describe('JSON with its places', () => {
  it('knows the line of a value, or of the nearest one around it', () => {
    const read = readJson('\n{\n  "a": [\n    1,\n    { "b": "x" }\n  ]\n}');
    const lines = read.ok
      ? [[], ['a'], ['a', 0], ['a', 1, 'b'], ['a', 1, 'c'], ['z', 'z']].map((path) => read.lineOf(path))
      : [];
    expect(lines).toEqual([2, 3, 4, 5, 5, 2]);
  });

  it('names a key that stands twice', () => {
    const read = readJson('{ "a": 1,\n"b": { "c": 1,\n"c": 2 },\n"a": 3 }');
    expect(read).toMatchObject({
      ok: true,
      value: { a: 3, b: { c: 2 } },
      doubles: [
        { key: 'c', line: 3 },
        { key: 'a', line: 4 },
      ],
    });
  });

  it.each([
    { text: '', line: 1, why: 'it ends too early' },
    { text: '\n', line: 2, why: 'it ends too early' },
    { text: '{\n  "a": 1,\n}', line: 3, why: '"}" is not expected here' },
    { text: '[1 2]', line: 1, why: '"2" is not expected here' },
    { text: '{"a"\n  1}', line: 2, why: '"1" is not expected here' },
    { text: '["a\nb"]', line: 1, why: String.raw`"\n" is not expected here` },
    {
      text: String.raw`["\x"]`,
      line: 1,
      why: 'this text has a backslash before a character that JSON does not escape',
    },
    { text: '["a', line: 1, why: 'it ends too early' },
    // Who reads the file has taken one away.
    { text: '\ufeff{}', line: 1, why: '"\ufeff" is not expected here' },
    { text: '{} 😀', line: 1, why: '"😀" is not expected here' },
    { text: '['.repeat(9999), line: 1, why: 'it is nested more than 100 deep' },
  ])('refuses $why', ({ text, ...problem }) => {
    expect(readJson(text)).toEqual({ ok: false, ...problem });
  });

  it('knows the lines of keys that stand twice below each other', () => {
    const read = readJson('{"a":{"b":1,\n"b":2},\n\n"a":3,"a":4}');
    expect(read.ok ? read.doubles.map(({ line }) => line) : []).toEqual([2, 4, 4]);
  });

  const json = fc
    .tuple(
      fc.json({ maxDepth: 6 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', ',', '}', '0', '-', '\t', '\u2028', 'e', '.'),
    )
    .map(([text, at, more]) => `${text.slice(0, at % (text.length + 1))}${more}${text.slice(at % (text.length + 1))}`);

  test.prop([json], { numRuns: 1000 })('reads what JSON.parse reads', (text) => {
    const read = readJson(text);
    expect(read.ok ? read.value : undefined).toEqual(parseJson(text) as Json);
  });
});
