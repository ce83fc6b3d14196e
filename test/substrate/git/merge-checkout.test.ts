import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FailpointName } from '../../../src/substrate/system/failpoint.ts';
import { mergeIntoCheckout } from '../../../src/substrate/git/merge-checkout.ts';
import type { MergeAnswer, MergeOrder } from '../../../src/substrate/git/merge-order.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from './bench.ts';
import { MERGE_CHILD } from './merge-child.ts';
import { ALL, some } from '../../support/lane.ts';

afterEach(removeFolders);

const BASE = {
  'a.txt': 'one\ntwo\nthree\n',
  'old.txt': 'old\n',
  'folder/b.txt': 'b\n',
  'deep/a': 'a\n',
  'deep/b': 'b\n',
};

/** A repository on main, and a branch `work` whose commit changes, adds and deletes files. */
function repositoryWithWork(work: (path: string) => void = changeAll) {
  const root = temporaryFolder();
  const path = createRepository(join(root, 'repository'), BASE);
  git(path, 'switch', '-q', '-c', 'work');
  work(path);
  git(path, 'add', '-A', '-f');
  git(path, 'commit', '-q', '-m', 'work');
  git(path, 'switch', '-q', 'main');
  return { root, path, commit: git(path, 'rev-parse', 'work') };
}

function changeAll(path: string): void {
  writeFileSync(join(path, 'a.txt'), 'one\ntwo\nTHREE\n');
  mkdirSync(join(path, 'new'));
  writeFileSync(join(path, 'new/c.txt'), 'c\n');
  rmSync(join(path, 'old.txt'));
}

async function merge(
  { root, path, commit }: { root: string; path: string; commit: string },
  more: Partial<MergeOrder> = {},
): Promise<MergeAnswer> {
  const ports = portsIn(root);
  const { branch = '', ...checkout } = await openRepository(ports, path);
  return mergeIntoCheckout(ports, { ...checkout, branch }, { run: 'work', commit, message: 'Merge it', ...more });
}

/** A merge in a process of its own, in which what is in `folder` may stay. */
function kill({ root, path, commit }: ReturnType<typeof repositoryWithWork>, at: FailpointName) {
  return spawnSync(process.execPath, [MERGE_CHILD, root, path, commit, `${at}=kill`], {
    env: { PATH: process.env['PATH'] },
    encoding: 'utf8',
  });
}

function commitHere(path: string, name: string, text: string): void {
  writeFileSync(join(path, name), text);
  git(path, 'add', '-f', name);
  git(path, 'commit', '-q', '-m', `here: ${name}`);
}

/** All that a merge may touch. */
function stateOf(path: string): object {
  return {
    head: git(path, 'rev-parse', 'HEAD'),
    branch: git(path, 'symbolic-ref', 'HEAD'),
    status: git(path, 'status', '--porcelain', '--ignored'),
    index: git(path, 'ls-files', '--stage'),
    refs: git(path, 'for-each-ref'),
  };
}

describe('what merges', () => {
  it('forwards the branch, with files, index and reflog', async () => {
    const it = repositoryWithWork();
    writeFileSync(join(it.path, 'notes.txt'), 'mine\n');
    expect(await merge(it)).toMatchObject({ type: 'merged', how: 'fast-forward', commit: it.commit });
    expect(stateOf(it.path)).toMatchObject({ head: it.commit, branch: 'refs/heads/main', status: '?? notes.txt' });
    expect(readFileSync(join(it.path, 'new/c.txt'), 'utf8')).toBe('c\n');
    expect(existsSync(join(it.path, 'old.txt'))).toBe(false);
    expect(git(it.path, 'reflog', '-1', '--format=%gs')).toBe('squad merge');
    expect(await merge(it)).toEqual({ type: 'already' });
  });

  it('makes a merge commit in the user’s name where both have moved', async () => {
    const it = repositoryWithWork();
    commitHere(it.path, 'here.txt', 'here\n');
    const before = git(it.path, 'rev-parse', 'HEAD');
    expect(await merge(it)).toMatchObject({ type: 'merged', how: 'merge', from: before });
    expect(git(it.path, 'log', '-1', '--format=%s|%an|%P')).toBe(`Merge it|Test|${before} ${it.commit}`);
    expect(git(it.path, 'status', '--porcelain')).toBe('');
    expect(git(it.path, 'fsck', '--strict')).toBe('');
    expect(readFileSync(join(it.path, 'a.txt'), 'utf8')).toContain('THREE');
  });

  it('obeys the attributes of the repository', async () => {
    const append = (path: string, line: string): void => appendFileSync(join(path, 'a.txt'), line);
    const it = repositoryWithWork((path) => append(path, 'theirs\n'));
    append(it.path, 'ours\n');
    git(it.path, 'commit', '-q', '-a', '-m', 'ours');
    commitHere(it.path, '.gitattributes', 'a.txt merge=union\n');
    expect(await merge(it)).toMatchObject({ type: 'merged', how: 'merge' });
    expect(readFileSync(join(it.path, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\nours\ntheirs\n');
  });
});

describe('changes that may stay', () => {
  const mayStay = (path: string): boolean => path.startsWith('folder/') || path === 'a.txt';

  it.each(['fast-forward', 'merge'])('are as they were after a %s', ALL, async (how) => {
    const arranged = repositoryWithWork();
    const { path } = arranged;
    if (how === 'merge') commitHere(path, 'here.txt', 'here\n');
    writeFileSync(join(path, 'folder/b.txt'), 'mine\n');
    writeFileSync(join(path, 'folder/staged.txt'), 'staged\n');
    git(path, 'add', 'folder/staged.txt');
    const status = git(path, 'status', '--porcelain');
    expect(await merge(arranged)).toMatchObject({ type: 'dirty', files: ['folder/b.txt', 'folder/staged.txt'] });
    expect(await merge(arranged, { mayStay })).toMatchObject({ type: 'merged', how });
    expect(git(path, 'status', '--porcelain')).toBe(status);
    expect(readFileSync(join(path, 'folder/b.txt'), 'utf8')).toBe('mine\n');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toContain('THREE');
  });

  it.each<[string, (path: string) => void, (path: string) => void, string[]]>([
    ['a file that the merge changes', changeAll, (path) => appendFileSync(join(path, 'a.txt'), 'x'), ['a.txt']],
    [
      'a file that becomes a folder',
      (path) => {
        rmSync(join(path, 'folder/b.txt'));
        mkdirSync(join(path, 'folder/b.txt'));
        writeFileSync(join(path, 'folder/b.txt/c'), 'c');
      },
      (path) => appendFileSync(join(path, 'folder/b.txt'), 'x'),
      ['folder/b.txt'],
    ],
    [
      'a new file whose folder becomes a file',
      (path) => {
        rmSync(join(path, 'folder'), { recursive: true });
        writeFileSync(join(path, 'folder'), 'x');
      },
      (path) => {
        writeFileSync(join(path, 'folder/new.txt'), 'x');
        git(path, 'add', 'folder/new.txt');
      },
      ['folder/new.txt'],
    ],
    [
      'others',
      changeAll,
      (path) => {
        writeFileSync(join(path, 'folder/b.txt'), 'mine\n');
        rmSync(join(path, 'old.txt'));
        writeFileSync(join(path, 'old.txt'), 'mine\n');
      },
      ['old.txt'],
    ],
  ])('are none of %s', async (_, work, arrange, files) => {
    const arranged = repositoryWithWork(work);
    arrange(arranged.path);
    const before = stateOf(arranged.path);
    expect(await merge(arranged, { mayStay })).toEqual({ type: 'dirty', files });
    expect(stateOf(arranged.path)).toEqual(before);
  });

  it.each<[string, (path: string) => void]>([
    ['', () => undefined],
    [', staged', (path) => git(path, 'add', 'folder')],
    [
      ', deleted',
      (path) => {
        git(path, 'rm', '-q', '--cached', 'folder/b.txt');
        rmSync(join(path, 'folder/b.txt'));
      },
    ],
  ])('are kept where a merge that was cut short is finished%s', ALL, async (_, arrange) => {
    const arranged = repositoryWithWork();
    const { path } = arranged;
    changeAll(path);
    rmSync(join(path, 'new'), { recursive: true });
    writeFileSync(join(path, 'folder/b.txt'), 'mine\n');
    writeFileSync(join(path, 'folder/new.txt'), 'mine too\n');
    arrange(path);
    const status = git(path, 'status', '--porcelain', '--', 'folder');
    const index = git(path, 'ls-files', '--stage', '--', 'folder');
    expect(await merge(arranged, { mayStay })).toMatchObject({ type: 'merged', how: 'fast-forward' });
    expect(git(path, 'status', '--porcelain')).toBe(status);
    expect(git(path, 'ls-files', '--stage', '--', 'folder')).toBe(index);
    expect(readFileSync(join(path, 'folder/new.txt'), 'utf8')).toBe('mine too\n');
    if (existsSync(join(path, 'folder/b.txt'))) {
      expect(readFileSync(join(path, 'folder/b.txt'), 'utf8')).toBe('mine\n');
    }
  });

  it.each<[string, (path: string) => void]>([
    [
      'a file becomes a folder',
      (path) => {
        rmSync(join(path, 'old.txt'));
        mkdirSync(join(path, 'old.txt'));
        writeFileSync(join(path, 'old.txt/c'), 'c\n');
      },
    ],
    [
      'a folder becomes a file',
      (path) => {
        rmSync(join(path, 'deep'), { recursive: true });
        writeFileSync(join(path, 'deep'), 'x\n');
      },
    ],
  ])('are kept where %s in the merge that is finished', ALL, async (_, work) => {
    const arranged = repositoryWithWork(work);
    const { path } = arranged;
    writeFileSync(join(path, 'folder/b.txt'), 'mine\n');
    const status = git(path, 'status', '--porcelain');
    const index = readFileSync(join(path, '.git/index'));
    expect(kill(arranged, 'merge.written').signal).toBe('SIGKILL');
    // As a kill before the index was renamed leaves it.
    writeFileSync(join(path, '.git/index'), index);
    await expect.poll(() => existsSync(join(path, '.git/refs/heads/main.lock'))).toBe(false);
    expect(await merge(arranged, { mayStay })).toMatchObject({ type: 'merged' });
    expect(git(path, 'status', '--porcelain')).toBe(status);
    expect(readFileSync(join(path, 'folder/b.txt'), 'utf8')).toBe('mine\n');
  });
});

describe('what is refused, and leaves everything as it was', () => {
  type Arranged = ReturnType<typeof repositoryWithWork>;
  it.each<[string, (arranged: Arranged) => void, object]>([
    [
      'a changed file',
      ({ path }) => appendFileSync(join(path, 'folder/b.txt'), 'x'),
      { type: 'dirty', files: ['folder/b.txt'] },
    ],
    [
      'a staged file',
      ({ path }) => {
        writeFileSync(join(path, ' new'), 'x');
        git(path, 'add', ' new');
      },
      { type: 'dirty', files: [' new'] },
    ],
    [
      'a changed file that the merge deletes',
      ({ path }) => appendFileSync(join(path, 'old.txt'), 'mine'),
      { type: 'dirty', files: ['old.txt'] },
    ],
    ['a deleted file', ({ path }) => rmSync(join(path, 'a.txt')), { type: 'dirty', files: ['a.txt'] }],
    ['a conflict', ({ path }) => commitHere(path, 'a.txt', 'one\ntwo\ndrei\n'), { type: 'conflict', files: ['a.txt'] }],
    [
      'an untracked file of the same name',
      ({ path }) => {
        mkdirSync(join(path, 'new'));
        writeFileSync(join(path, 'new/c.txt'), 'mine\n');
      },
      { type: 'untracked', files: ['new/c.txt'] },
    ],
    [
      'an ignored one',
      ({ path }) => {
        writeFileSync(join(path, '.git/info/exclude'), 'new\n');
        mkdirSync(join(path, 'new'));
        writeFileSync(join(path, 'new/c.txt'), 'mine\n');
      },
      { type: 'untracked', files: ['new/c.txt'] },
    ],
    [
      'an untracked file where a folder belongs',
      ({ path }) => writeFileSync(join(path, 'new'), 'x'),
      { type: 'untracked', files: ['new'] },
    ],
    [
      'an untracked file in a folder where a file belongs',
      (arranged) => {
        git(arranged.path, 'switch', '-q', 'work');
        commitHere(arranged.path, 'thing', 'x');
        arranged.commit = git(arranged.path, 'rev-parse', 'HEAD');
        git(arranged.path, 'switch', '-q', 'main');
        mkdirSync(join(arranged.path, 'thing'));
        writeFileSync(join(arranged.path, 'thing/mine'), 'x');
      },
      { type: 'untracked', files: ['thing/mine'] },
    ],
    [
      'a merge that is not finished',
      ({ path, commit }) => writeFileSync(join(path, '.git/MERGE_HEAD'), commit),
      { type: 'busy' },
    ],
    [
      'an unrelated history',
      (arranged) => {
        const other = createRepository(join(arranged.root, 'other'), { 'z.txt': 'z' });
        git(arranged.path, 'fetch', '-q', other, 'main');
        arranged.commit = git(arranged.path, 'rev-parse', 'FETCH_HEAD');
      },
      { type: 'unrelated' },
    ],
  ])('%s', ALL, async (_title, arrange, expected) => {
    const arranged = repositoryWithWork();
    arrange(arranged);
    const before = stateOf(arranged.path);
    expect(await merge(arranged)).toMatchObject(expected);
    expect(stateOf(arranged.path)).toEqual(before);
  });

  it('S6: runs no hook, filter or driver, and says which files a filter would have to write', async () => {
    const it = repositoryWithWork((path) => {
      changeAll(path);
      writeFileSync(join(path, '.gitattributes'), '*.txt filter=evil merge=evil diff=evil\n');
    });
    const ran = join(it.root, 'ran');
    const program = join(it.root, 'evil.sh');
    writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`);
    chmodSync(program, 0o755);
    for (const hook of [
      'post-checkout',
      'post-merge',
      'pre-merge-commit',
      'post-index-change',
      'reference-transaction',
    ]) {
      writeFileSync(join(it.path, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 });
    }
    git(it.path, 'config', 'merge.evil.driver', `${program} %A`);
    git(it.path, 'config', 'diff.evil.textconv', program);
    git(it.path, 'config', 'core.fsmonitor', program);
    git(it.path, 'config', 'filter.evil.smudge', program);
    rmSync(ran, { force: true });
    expect(await merge(it)).toEqual({ type: 'filtered', files: ['a.txt', 'new/c.txt'] });
    git(it.path, 'config', '--unset', 'filter.evil.smudge');
    // What the test's own git ran does not count.
    rmSync(ran, { force: true });
    expect(await merge(it)).toMatchObject({ type: 'merged', how: 'fast-forward' });
    expect(existsSync(ran)).toBe(false);
  });
});

describe('a merge that is killed', () => {
  it.each(
    some<[FailpointName, boolean]>(
      [
        ['merge.ready', false],
        ['merge.locked', false],
        ['merge.written', false],
        ['merge.ready', true],
        ['merge.written', true],
      ],
      2,
    ),
  )('at %s (diverged: %s) is whole after the next call', ALL, async (at, diverged) => {
    const arranged = repositoryWithWork();
    const { path } = arranged;
    if (diverged) commitHere(path, 'here.txt', 'here\n');
    const before = stateOf(path);
    expect(kill(arranged, at).signal).toBe('SIGKILL');
    if (at !== 'merge.written') expect(stateOf(path)).toEqual(before);
    expect(git(path, 'rev-parse', 'HEAD')).toBe((before as { head: string }).head);
    await expect.poll(() => existsSync(join(path, '.git/refs/heads/main.lock'))).toBe(false);
    expect(await merge(arranged)).toMatchObject({ type: 'merged' });
    expect(stateOf(path)).toMatchObject({ status: '' });
    expect(git(path, 'diff', '--stat', 'HEAD', arranged.commit, '--', 'a.txt', 'new', 'old.txt')).toBe('');
  });

  it('while it wrote its files is finished too, and what a person changed since is kept', ALL, async () => {
    const arranged = repositoryWithWork();
    const { path } = arranged;
    // As git leaves it: some files are written, and the index is not.
    changeAll(path);
    rmSync(join(path, 'new'), { recursive: true });
    writeFileSync(join(path, 'folder/b.txt'), 'mine\n');
    expect(await merge(arranged)).toMatchObject({ type: 'dirty', files: ['a.txt', 'folder/b.txt', 'old.txt'] });
    git(path, 'checkout', '-q', '--', 'folder/b.txt');
    mkdirSync(join(path, 'new'));
    writeFileSync(join(path, 'new/c.txt'), 'mine\n');
    expect(await merge(arranged)).toMatchObject({ type: 'untracked', files: ['new/c.txt'] });
    writeFileSync(join(path, 'new/c.txt'), 'c\n');
    expect(await merge(arranged)).toMatchObject({ type: 'merged' });
    expect(stateOf(path)).toMatchObject({ head: arranged.commit, status: '' });
  });
});
