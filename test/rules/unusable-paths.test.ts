import { expect, test } from 'vitest';
import { isRefusedPath, isTooLong } from '../../src/rules/evidence.ts';

test.each([
  ['a name of 255 bytes', 'x'.repeat(255), false],
  ['a name of 256 bytes', 'x'.repeat(256), true],
  ['a name of 256 bytes in fewer letters', `a/${'ü'.repeat(128)}`, true],
  ['a path of 4,095 bytes', 'x/'.repeat(2_048).slice(0, 4_095), false],
  ['a path of 4,096 bytes', 'x/'.repeat(2_048), true],
  ['a path of 4,096 bytes in fewer letters', 'ü/'.repeat(1_366), true],
])('%s', (_, path, tooLong) => {
  expect(isTooLong(path)).toBe(tooLong);
});

test.each([
  ['a/b', false],
  ['a..b/.c', false],
  ['a/.gitignore', false],
  ['a//b', true],
  ['./a', true],
  ['a/..', true],
  ['a/.GIT/b', true],
])('git refuses %s: %s', (path, refused) => {
  expect(isRefusedPath(path)).toBe(refused);
});
