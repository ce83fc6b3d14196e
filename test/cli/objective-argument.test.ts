import { describe, expect, it } from 'vitest';
import { decideArgument } from '../../src/cli/read-objective.ts';

const around = { isThere: false, files: ['objective.md', 'README.md'] };

describe('the argument of squad run', () => {
  it.each([
    ['-', { type: 'stdin' }],
    ['add a login form', { type: 'text' }],
    ['refactor', { type: 'text' }],
    ['', { type: 'text' }],
    ['  \n', { type: 'text' }],
    ['Fix the typo in README.md', { type: 'text' }],
    ['Fix src/a.ts and docs/b.md', { type: 'text' }],
    ['two\nlines', { type: 'text' }],
    ['添加登录/注册表单', { type: 'text' }],
    ['#fix it', { type: 'text' }],
    ['#12', { type: 'issue', number: 12 }],
    [' #12 ', { type: 'issue', number: 12 }],
    ['https://github.com/acme/app/issues/12', { type: 'issue', number: 12, repository: 'github.com/acme/app' }],
    [
      'https://git.corp.example/a-b/c.d/issues/7/#issuecomment-1',
      { type: 'issue', number: 7, repository: 'git.corp.example/a-b/c.d' },
    ],
    [
      'https://gitlab.com/acme/tools/app/-/issues/12#note_1',
      { type: 'issue', number: 12, repository: 'gitlab.com/acme/tools/app' },
    ],
    ['https://gitlab.com/acme/app/-/work_items/7', { type: 'issue', number: 7, repository: 'gitlab.com/acme/app' }],
    ['see https://github.com/acme/app/issues/12', { type: 'text' }],
    ['tasks/login.md', { type: 'file' }],
    ['notes.txt', { type: 'file' }],
    ['src/login', { type: 'file' }],
  ])('%j', (given, argument) => {
    expect(decideArgument(given, around)).toEqual(argument);
  });

  it.each([
    ['./my objective.md', './objective.md'],
    ['objectve.md', 'objective.md'],
    ['objective', 'objective.md'],
    ['docs/objectiv.md', 'docs/objective.md'],
  ])('%s is no file, and %s is suggested', (given, meant) => {
    expect(() => decideArgument(given, around)).toThrow(`there is no file ${given}; did you mean ${meant}?`);
  });

  it.each(['add a login form', '#12', 'objective', 'https://x'])('%j is a file if there is one', (given) => {
    expect(decideArgument(given, { ...around, isThere: true })).toEqual({ type: 'file' });
  });

  it.each([
    'https://github.com/acme/app/pull/12',
    'https://github.com/acme',
    'https://github.com/acme/app/issues/12x',
    'https://github.com/-x/app/issues/1',
    'http://[::1]/a/b/issues/1',
    'https://a@evil.example/a/b/issues/1',
  ])('%s is no issue', (given) => {
    expect(() => decideArgument(given, around)).toThrow(/is not the URL of an issue$/);
  });
});
