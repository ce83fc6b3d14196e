import { expect, it } from 'vitest';
import { nameOf, stepsOf } from '../../src/model/repositories.ts';
import { parseSettings } from '../../src/squad/settings/parse-settings.ts';
import { KNOWN_NAMES } from '../support/known-names.ts';

it.for<[string, string | undefined]>([
  ['../api', 'api'],
  ['/srv/My API/', 'my-api'],
  ['..', undefined],
  ['/', undefined],
  ['../2024', undefined],
  [`../${'x'.repeat(40)}`, 'x'.repeat(32)],
])('names a repository after its folder: %s', ([path, name]) => {
  expect(nameOf({ path })).toBe(name);
});

it('runs the steps of each repository in its folder, after those of the first', () => {
  const step = { run: 'npm ci', minutes: 10, reuse: 'node_modules', when: ['package-lock.json'] };
  const { setup, verify } = stepsOf({
    setup: [{ run: 'make', minutes: 1 }],
    verify: [],
    repositories: [{ path: '../api', role: 'r', setup: [step], verify: [{ run: 'npm test', minutes: 5 }] }],
  });
  expect(setup).toEqual([
    { run: 'make', minutes: 1 },
    {
      ...{ run: 'cd repositories/api || exit 1; npm ci', minutes: 10 },
      ...{ reuse: ['repositories/api/node_modules'], when: ['repositories/api/package-lock.json'] },
    },
  ]);
  expect(verify).toEqual([{ run: 'cd repositories/api || exit 1; npm test', minutes: 5 }]);
});

it.for<[string, string, RegExp]>([
  ['without a role', '[{ path: ../api }]', /role/],
  ['without a name', '[{ path: .., role: x }]', /add `name`/],
  [
    'with one name twice',
    '[{ path: ../api, role: x }, { path: /b/api, role: y }]',
    /second repository with the name api/,
  ],
  ['with an unknown key', '[{ path: ../api, role: x, remotes: y }]', /remotes/],
])('refuses repositories %s', ([, list, why]) => {
  const parsed = parseSettings(`repositories: ${list}\n`, 'squad.yaml', KNOWN_NAMES);
  expect(parsed.ok ? '' : JSON.stringify(parsed.problems)).toMatch(why);
});

it('refuses them in the settings for all repositories', () => {
  const parsed = parseSettings('repositories: [{ path: ../api, role: x }]\n', 'config.yaml', KNOWN_NAMES, 'own');
  expect(parsed.ok ? '' : JSON.stringify(parsed.problems)).toMatch(/belong in the squad.yaml of one/);
});
