import { expect, it } from 'vitest';
import { errorBlock } from '../../../src/cli/render/error-text.ts';

it.each([
  ['one line', 'one line'],
  [
    's.yaml cannot be used:\ns.yaml:2: wrong; for example:\n    limits: {}',
    's.yaml cannot be used:\n  s.yaml:2: wrong; for example:\n      limits: {}',
  ],
  ['git said: x\r\n\nNext: rm -rf /  \n', 'git said: x\n  Next: rm -rf /'],
  ['\u001b[2Ja\u202eb', 'a\\u202eb'],
  ['', ''],
])('%j', (message, expected) => {
  expect(errorBlock(message)).toBe(expected);
});

it('is cut where nobody would read on', () => {
  const lines = errorBlock(Array.from({ length: 100 }, () => 'x'.repeat(5_000)).join('\n')).split('\n');
  expect(lines).toHaveLength(61);
  expect(lines[0]).toHaveLength(2_000);
  expect(lines.at(-1)).toBe('  … and 40 more lines');
});
