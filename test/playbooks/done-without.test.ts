import { expect, it } from 'vitest';
import { doneWithout } from '../../src/playbooks/shared/repair.ts';

it.each([
  ['criterion: `npm test` exited with 1:\n(no output)', '`npm test` exits with 0'],
  ['verify: `a `b` c` timed out:', '`a `b` c` exits with 0'],
  ['criterion “it is fast” is not met, says rex: no', 'this is true: it is fast'],
  ['the change of x: no, says rex: weaker', 'this is fixed: the change of x: no, says rex: weaker'],
])('a problem of the merged work as what is true without it: %j', (problem, done) => {
  expect(doneWithout(problem)).toBe(done);
});
