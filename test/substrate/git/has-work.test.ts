// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { hasWork } from '../../../src/substrate/git/has-work.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from './bench.ts';

afterEach(removeFolders);

type Change = (path: string) => void;

const commit =
  (text: string): Change =>
  (path) => {
    writeFileSync(join(path, 'a.txt'), text);
    git(path, 'commit', '-q', '-a', '-m', text);
  };
const squash: Change = (path) => {
  git(path, 'merge', '-q', '--squash', 'work');
  git(path, 'commit', '-q', '-m', 'squashed');
};

it.each<[string, boolean, readonly Change[], string?]>([
  ['merged', true, [(path) => git(path, 'merge', '-q', 'work')]],
  ['squashed', true, [squash]],
  ['squashed, and the same line changed since', true, [squash, commit('three\n')]],
  ['squashed, in a path that git divides', true, [squash], String.raw`re:po "si\tory`],
  ['not merged', false, []],
  ['not merged, and the same line changed', false, [commit('three\n')]],
  [
    'not merged, and something else committed',
    false,
    [(path) => git(path, 'commit', '-q', '--allow-empty', '-m', 'x')],
  ],
])('work that is %s: %s', async (_, has, changes, name = 'repository') => {
  const root = temporaryFolder();
  const path = createRepository(join(root, name), { 'a.txt': 'one\n' });
  git(path, 'switch', '-q', '-c', 'work');
  commit('two\n')(path);
  git(path, 'switch', '-q', 'main');
  for (const change of changes) change(path);
  const ports = portsIn(root);
  const checkout = await openRepository(ports, path);
  const between = { commit: git(path, 'rev-parse', 'HEAD'), of: git(path, 'rev-parse', 'work') };
  const before = git(path, 'count-objects', '-v');
  expect(await hasWork(ports, checkout, between)).toBe(has);
  expect(git(path, 'count-objects', '-v')).toBe(before);
});
