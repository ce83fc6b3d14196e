import { expect, it } from 'vitest';
import { childEnvironment } from '../../../src/runtimes/shared/child-environment.ts';

it.each<[string, string]>([
  ['/a:/b', '/a:/b'],
  ['node_modules/.bin:/a:.:/b:', '/a:/b'],
  [':/a', '/a'],
  ['bin', '/usr/bin:/bin'],
  ['', '/usr/bin:/bin'],
])('no program looks for another in the agent’s folder: PATH %j becomes %j', (path, found) => {
  expect(childEnvironment({ PATH: path, OTHER: 'x' }, [])).toEqual({ PATH: found });
});

it('has no PATH where the host has none', () => {
  expect(childEnvironment({ HOME: '/home/me' }, [])).toEqual({ HOME: '/home/me' });
});
