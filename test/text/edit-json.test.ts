import { describe, expect, it } from 'vitest';
import { jsonEditor, type JsonEdits } from '../../src/text/edit-json.ts';

const STATUS: JsonEdits = new Map([['status', 'paused']]);
const LIST: JsonEdits = new Map([['list', ['a', 'b']]]);
const NESTED: JsonEdits = new Map([['pipeline', new Map([['done', 3]])]]);

describe('edited JSON', () => {
  it.each<[name: string, text: string, edits: JsonEdits, expected: string]>([
    [
      'keeps all else to the byte',
      '{ "b":1.0 ,\n\t"status" : "x", "1":12345678901234567890 }\n',
      STATUS,
      '{ "b":1.0 ,\n\t"status" : "paused", "1":12345678901234567890 }\n',
    ],
    [
      'gets a missing key at its end, in the style of the others',
      '{\n  "a": 1\n}\n',
      STATUS,
      '{\n  "a": 1,\n  "status": "paused"\n}\n',
    ],
    ['gets a missing key on its one line', '{"a":1}', STATUS, '{"a":1,"status":"paused"}'],
    ['gets the first key of all', '{ }', STATUS, '{"status":"paused"}'],
    [
      'has lists on lines of their own where its keys are',
      '{\n    "list": []\n}',
      LIST,
      '{\n    "list": [\n        "a",\n        "b"\n    ]\n}',
    ],
    ['has lists on one line where they were', '{\n  "list": ["a"]\n}', LIST, '{\n  "list": ["a","b"]\n}'],
    ['has tabs where it had them', '{\n\t"list": null\n}', LIST, '{\n\t"list": [\n\t\t"a",\n\t\t"b"\n\t]\n}'],
    [
      'is edited inside of an object',
      '{"pipeline": {"graph": {"done": 1}, "done": 2}}',
      NESTED,
      '{"pipeline": {"graph": {"done": 1}, "done": 3}}',
    ],
    [
      'gets a key inside of an object',
      '{\n  "pipeline": {\n    "a": {}\n  }\n}',
      NESTED,
      '{\n  "pipeline": {\n    "a": {},\n    "done": 3\n  }\n}',
    ],
    [
      'gets an object where there is none',
      '{\n  "pipeline": 7\n}',
      NESTED,
      '{\n  "pipeline": {\n    "done": 3\n  }\n}',
    ],
    ['gets an object where it is empty', '{\n  "pipeline": {}\n}', NESTED, '{\n  "pipeline": {\n    "done": 3\n  }\n}'],
    ['changes the one of two that a reader takes', '{"status":1,"status":2}', STATUS, '{"status":1,"status":"paused"}'],
    [
      'finds keys and values that look like something else',
      '{"a\\"status":"{\\"status\\":[","\\u0073tatus":"}","z":["]"]}',
      STATUS,
      '{"a\\"status":"{\\"status\\":[","\\u0073tatus":"paused","z":["]"]}',
    ],
  ])('%s', (_name, text, edits, expected) => {
    expect(jsonEditor(text)(edits)).toBe(expected);
  });

  it('reads back as the values that it was given, whatever the rest is', () => {
    const values = [null, true, -1.5e-7, '', 'a\\"b\n\u2028', [], [[{}]], { a: { b: ['}', '{"'] } }];
    for (const indent of ['', '  ', '\t']) {
      for (const [index, value] of values.entries()) {
        const before = { first: value, status: values[values.length - 1 - index], pipeline: { x: value }, last: value };
        const text = jsonEditor(JSON.stringify(before, null, indent))(new Map([...STATUS, ...NESTED, ...LIST]));
        const pipeline = { x: value, done: 3 };
        expect(text).toBe(JSON.stringify({ ...before, status: 'paused', pipeline, list: ['a', 'b'] }, null, indent));
      }
    }
  });
});
