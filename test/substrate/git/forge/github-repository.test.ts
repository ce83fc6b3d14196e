import { describe, expect, it } from 'vitest';
import { githubRepository } from '../../../../src/substrate/git/forge/remotes.ts';

describe('a remote on GitHub', () => {
  it.each([
    ['https://github.com/acme/app.git', 'github.com/acme/app'],
    ['https://me:token@github.com/acme/app', 'github.com/acme/app'],
    ['https://github.com/acme/app.js/', 'github.com/acme/app.js'],
    ['git@github.com:acme/app.git', 'github.com/acme/app'],
    ['github.com:acme/app', 'github.com/acme/app'],
    ['ssh://git@ssh.github.com:443/acme/app.git', 'github.com/acme/app'],
    ['ssh://git@git.corp.example:2222/acme/app', 'git.corp.example/acme/app'],
  ])('%s', (url, name) => {
    expect(githubRepository(url)).toBe(name);
  });

  it.each([
    '/srv/git/app.git',
    '../app.git',
    'file:///srv/acme/app.git',
    'https://github.com/acme',
    'https://gitlab.example/group/sub/app',
    'ext::sh -c touch% x',
    'https://github.com/-x/app',
    'C:\\repos\\app',
    '',
  ])('not %s', (url) => {
    expect(githubRepository(url)).toBeUndefined();
  });
});
