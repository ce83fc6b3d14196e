import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { readIndex } from '../../../src/substrate/git/read-folder.ts';
import { createRepository, git } from '../../support/git.ts';
import { removeFolders, temporaryFolder } from './bench.ts';

afterEach(removeFolders);

it('reads an index again that was replaced by one of the same size and time, in the same file', () => {
  const repository = createRepository(join(temporaryFolder(), 'repository'), { 'a.txt': 'one\n', 'b/c.txt': 'two\n' });
  const commit = git(repository, 'rev-parse', 'HEAD');
  const index = join(repository, '.git', 'index');
  const place = join(repository, 'copy');
  const objectAt = (bytes: Buffer): string | undefined => {
    writeFileSync(place, bytes);
    utimesSync(place, 1_700_000_000, 1_700_000_000);
    return readIndex(place, commit)?.file.entries.get('a.txt')?.object;
  };
  git(repository, 'read-tree', 'HEAD');
  const first = objectAt(readFileSync(index));
  writeFileSync(join(repository, 'a.txt'), 'ONE\n');
  git(repository, 'commit', '-q', '-a', '-m', 'further');
  git(repository, 'read-tree', 'HEAD');
  const second = objectAt(readFileSync(index));
  expect([first, second]).toEqual([
    git(repository, 'rev-parse', 'HEAD~:a.txt'),
    git(repository, 'rev-parse', 'HEAD:a.txt'),
  ]);
});
