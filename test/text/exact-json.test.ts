import { expect, it } from 'vitest';
import { exactJson } from '../../src/text/exact-json.ts';

it.each([
  '9007199254740993',
  '12345678901234567890',
  '1e999',
  '-1E+400',
  '-0',
  '1.0',
  '0.1000',
  '3.14159265358979323846',
])('writes %s again as it stood', (number) => {
  for (const text of [`{"a":[1,{"b":${number}}]}`, `[${number},"${number}"]`]) {
    expect(JSON.stringify(exactJson(text))).toBe(text);
  }
});

it.each(['{}', ' [0,-1,0.1,1e+21,null,"1.0"]', '{"a":9007199254740991}', '"1.0"', '1.0'])(
  'has nothing to say of %s',
  (text) => {
    expect(exactJson(text)).toBeUndefined();
  },
);
