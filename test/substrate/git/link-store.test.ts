import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { linkStore } from '../../../src/substrate/git/run-repository.ts';
import { git } from '../../support/git.ts';
import { DISK } from '../../support/templates.ts';

function room(parent = tmpdir()): string {
  const root = mkdtempSync(join(parent, 'squad-link-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

/** A repository with a packed commit and a loose one. */
function repositoryIn(root: string, name = 'repository'): { objects: string; head: string } {
  const path = join(root, name);
  execFileSync('git', ['init', '-q', path]);
  for (const text of ['one', 'two']) {
    writeFileSync(join(path, 'a.txt'), text);
    git(path, 'add', '.');
    git(path, 'commit', '-qm', text);
    if (text === 'one') git(path, 'repack', '-adq');
  }
  return { objects: join(path, '.git/objects'), head: git(path, 'rev-parse', 'HEAD') };
}

/** What a git that borrows from this store alone reads. */
function historyFrom(root: string, store: string, head: string): string {
  const borrower = join(root, 'borrower');
  execFileSync('git', ['init', '-q', borrower]);
  writeFileSync(join(borrower, '.git/objects/info/alternates'), `${store}\n`);
  git(borrower, 'fsck', '--full', head);
  return git(borrower, 'log', '--format=%s', head);
}

it('has all objects after the repository was moved or deleted', async () => {
  const root = room();
  const { objects, head } = repositoryIn(root);
  expect(await linkStore(objects, join(root, 'linked'))).toBe(true);
  rmSync(join(root, 'repository'), { recursive: true });
  expect(historyFrom(root, join(root, 'linked'), head)).toBe('two\none');
});

it('has the stores from which the repository borrows, where a line of it is relative too', async () => {
  const root = room();
  const { objects, head } = repositoryIn(root);
  git(root, 'clone', '-q', '--shared', join(root, 'repository'), 'borrows');
  writeFileSync(join(root, 'borrows/.git/objects/info/alternates'), '../../../repository/.git/objects\n');
  expect(await linkStore(join(root, 'borrows/.git/objects'), join(root, 'linked'))).toBe(true);
  expect(readFileSync(join(root, 'linked/info/alternates'), 'utf8')).toBe(`${objects}\n`);
  rmSync(join(root, 'borrows'), { recursive: true });
  expect(historyFrom(root, join(root, 'linked'), head)).toBe('two\none');
});

it('takes neither the temporary files of a git at work nor what keeps a pack', async () => {
  const root = room();
  const { objects } = repositoryIn(root);
  for (const name of ['tmp_pack_1', 'x.keep', 'x.lock']) writeFileSync(join(objects, 'pack', name), '');
  expect(await linkStore(objects, join(root, 'linked'))).toBe(true);
  for (const name of ['tmp_pack_1', 'x.keep', 'x.lock'])
    expect(existsSync(join(root, 'linked/pack', name))).toBe(false);
});

it('is not made of very many files, and leaves nothing', async () => {
  const root = room();
  const pack = join(root, 'objects/pack');
  mkdirSync(pack, { recursive: true });
  execFileSync('sh', ['-c', 'i=0; while [ $i -lt 20001 ]; do : > $i.pack; i=$((i+1)); done'], { cwd: pack });
  expect(await linkStore(join(root, 'objects'), join(root, 'linked'))).toBe(false);
  expect([existsSync(join(root, 'linked')), existsSync(join(root, 'linked.new'))]).toEqual([false, false]);
});

const disk = process.env[DISK] ?? tmpdir();
const isOneDisk = statSync(disk).dev === statSync(tmpdir()).dev;

it.skipIf(isOneDisk)(
  `is not made on another disk, and leaves nothing${isOneDisk ? ' (skipped: all temporary files are on one file system)' : ''}`,
  async () => {
    const root = room();
    const to = join(room(disk), 'linked');
    expect(await linkStore(repositoryIn(root).objects, to)).toBe(false);
    expect([existsSync(to), existsSync(`${to}.new`)]).toEqual([false, false]);
  },
);
