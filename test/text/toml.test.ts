import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeToml } from '../../src/text/toml.ts';
import { ALL } from '../support/lane.ts';

describe('encodeToml', () => {
  it.each([
    ['plain', '"plain"'],
    ['a "b" \\ \n\t', String.raw`"a \"b\" \\ \n\t"`],
    ['\u007F\u0001', String.raw`"\u007F\u0001"`],
    ['\uD800x', '"\uFFFDx"'],
    [true, 'true'],
    [3, '3'],
    [0.5, '0.5'],
    [1e20, '1e+20'],
    [['a', 1], '["a",1]'],
    [{ 'a.b': { c: [] }, gone: undefined }, '{"a.b"={"c"=[]}}'],
  ])('writes %j', (value, expected) => {
    expect(encodeToml(value)).toBe(expected);
  });

  it.each([[null], [undefined], [Number.NaN], [Number.POSITIVE_INFINITY], [1n], [{ a: null }]])(
    'has no form for %s',
    (value) => {
      expect(() => encodeToml(value)).toThrow(TypeError);
    },
  );

  it('reads back as what it was, on one line, without a control character', ALL, () => {
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.boolean(),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.array(tie('node'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    fc.assert(
      fc.property(value, (given) => {
        const text = encodeToml(given);
        expect(text).not.toMatch(/[\u0000-\u001F\u007F]/);
        expect(decode(text)).toEqual(JSON.parse(JSON.stringify(given)));
      }),
    );
  });
});

/** The form is JSON with `=` for `:`; a reader that walks strings apart turns it back. */
function decode(text: string): unknown {
  return JSON.parse(text.replaceAll(/"(?:[^"\\]|\\.)*"|=/g, (token) => (token === '=' ? ':' : token)));
}
