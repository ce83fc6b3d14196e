// @module-tag all
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGitWorkspaces } from '../../../../src/substrate/git/git-workspaces.ts';
import { commitIn, portsIn, removeFolders } from '../bench.ts';
import { git } from '../../../support/git.ts';
import { expectFresh, FILES, openSpares, playTask, pool, RUN, settle, tidyAll } from './spare-bench.ts';

afterEach(removeFolders);

function inodes(folder: string): ReadonlySet<number> {
  return new Set(Object.keys(FILES).map((name) => statSync(join(folder, name)).ino));
}

describe('folders that are used again', () => {
  it('are brought back from a task whose work is kept, and given to the next one', async () => {
    const bench = await openSpares();
    let before: ReadonlySet<number> = new Set();
    await playTask(bench, 'one', (folder) => {
      before = inodes(folder.workspace.path);
      commitIn(folder, { 'src/part-0/file-0.ts': 'changed\n', 'new/file.ts': 'new\n' });
      mkdirSync(join(folder.workspace.path, 'node_modules/x'), { recursive: true });
      writeFileSync(join(folder.workspace.path, 'node_modules/x/index.js'), 'evil');
    });
    expect(pool(bench)).toEqual(['left']);
    await tidyAll(bench);
    expect(pool(bench)).toEqual(['ready']);
    const used = await expectFresh(bench, 'two');
    expect(pool(bench)).toEqual([]);
    const same = [...inodes(used.workspace.path)].filter((inode) => before.has(inode));
    expect(same.length).toBeGreaterThan(40);
  });

  it('keep the folders in which nothing has changed, and get others anew', async () => {
    const bench = await openSpares();
    const inodeOf = (folder: string, name: string): number => statSync(join(folder, name)).ino;
    const [changed, added, still] = ['src/part-0', 'src/part-1', 'src/part-2'];
    const before = new Map<string, number>();
    await playTask(bench, 'one', ({ workspace: { path } }) => {
      for (const name of [changed, added, still]) before.set(name, inodeOf(path, name));
      writeFileSync(join(path, changed, 'file-0.ts'), 'changed\n');
      writeFileSync(join(path, added, 'new.log'), 'ignored\n');
    });
    const { workspace } = await expectFresh(bench, 'two');
    const same = [changed, added, still].map((name) => inodeOf(workspace.path, name) === before.get(name));
    expect(same).toEqual([false, false, true]);
  });

  it('are taken from a task that is done where none is left', async () => {
    const bench = await openSpares();
    const { spare, report } = bench;
    const done = await spare.addFolder({ run: RUN, task: 'one', commit: report.head });
    await spare.addFolder({ run: RUN, task: 'two', commit: report.head });
    await settle();
    const before = inodes(done.workspace.path);
    const left = ['one'];
    const freeOne = async (): Promise<boolean> => {
      const task = left.pop();
      return task !== undefined && (await spare.removeFolder({ run: RUN, task }, `${task}-1`)).type === 'removed';
    };
    const next = await spare.addFolder({ run: RUN, task: 'three', commit: report.head, freeOne });
    expect([...inodes(next.workspace.path)].filter((inode) => before.has(inode)).length).toBeGreaterThan(40);
    await spare.addFolder({ run: RUN, task: 'four', commit: report.head, freeOne });
    expect(left).toEqual([]);
  });

  it('come to another commit', async () => {
    const bench = await openSpares();
    expect(pool(bench)).toEqual(['ready']);
    const { repository } = bench;
    git(repository, 'mv', 'src/part-1/file-1.ts', 'moved.ts');
    git(repository, 'rm', '-q', 'link', 'src/part-2/file-2.ts');
    git(repository, 'commit', '-q', '-m', 'further');
    await expectFresh(bench, 'two', git(repository, 'rev-parse', 'HEAD'));
  });

  it.each<readonly [string, (folder: string) => void]>([
    [
      'equal size and time',
      (folder) => {
        const path = join(folder, 'src/part-3/file-3.ts');
        const { atime, mtime } = statSync(path);
        writeFileSync(path, readFileSync(path, 'utf8').replace('3;', '9;'));
        utimesSync(path, atime, mtime);
      },
    ],
    [
      'a file in the place of another one, renamed',
      (folder) => {
        writeFileSync(
          join(folder, 'x'),
          readFileSync(join(folder, 'src/part-3/file-3.ts'), 'utf8').replace('3;', '9;'),
        );
        renameSync(join(folder, 'x'), join(folder, 'src/part-3/file-3.ts'));
      },
    ],
    ['a hard link that stays elsewhere', (folder) => linkSync(join(folder, 'run.sh'), join(folder, '../held'))],
    [
      'a hard link that came and went',
      (folder) => {
        linkSync(join(folder, 'run.sh'), join(folder, '../held'));
        rmSync(join(folder, '../held'));
      },
    ],
    ['modes of files', (folder) => chmodSync(join(folder, 'src/part-1/file-1.ts'), 0o4777)],
    ['modes of folders', (folder) => chmodSync(join(folder, 'src/part-1'), 0o2777)],
    [
      'a folder that cannot be read',
      (folder) => {
        mkdirSync(join(folder, 'dist'));
        chmodSync(join(folder, 'dist'), 0);
      },
    ],
    [
      'a link in the place of a folder',
      (folder) => {
        renameSync(join(folder, 'src/part-1'), join(folder, 'dist'));
        symlinkSync('/etc', join(folder, 'src/part-1'));
      },
    ],
    ['a pipe', (folder) => execFileSync('mkfifo', [join(folder, 'a.log')])],
    [
      'attributes',
      (folder) => {
        const script = "import os,sys; os.setxattr(sys.argv[1], b'user.squad', b'evil')";
        execFileSync('python3', ['-c', script, join(folder, 'run.sh')]);
        execFileSync('python3', ['-c', script, join(folder, 'src/part-2')]);
      },
    ],
    [
      'hooks, settings, alternates and an index of its own',
      (folder) => {
        mkdirSync(join(folder, '.git/hooks'), { recursive: true });
        writeFileSync(join(folder, '.git/hooks/post-checkout'), '#!/bin/sh\nfalse\n', { mode: 0o755 });
        writeFileSync(join(folder, '.git/config'), '[core]\n\tfsmonitor = false\n\thooksPath = .git/hooks\n');
        execFileSync('git', ['update-index', '--assume-unchanged', 'run.sh'], { cwd: folder });
        writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\nevil\n');
      },
    ],
  ])('leave nothing of a task for the next one: %s', async (_about, act) => {
    const bench = await openSpares();
    await playTask(bench, 'one', (folder) => act(folder.workspace.path));
    await tidyAll(bench);
    await expectFresh(bench, 'two');
  });

  it.each<readonly [string, (spare: string) => void]>([
    ['filled', (spare) => writeFileSync(join(spare, 'src/part-1/more.ts'), 'x')],
    ['emptied', (spare) => rmSync(join(spare, 'src'), { recursive: true })],
    ['deleted', (spare) => rmSync(spare, { recursive: true })],
    ['changed', (spare) => writeFileSync(join(spare, 'run.sh'), 'x')],
  ])('count for nothing once a person has %s one', async (_about, act) => {
    const bench = await openSpares();
    const folder = join(bench.stateDirectory, 'work', '.spare');
    act(join(folder, readdirSync(folder).find((name) => name.includes('.')) ?? '', 'files'));
    await expectFresh(bench, 'two');
    await tidyAll(bench);
    expect(pool(bench).filter((state) => state !== 'ready')).toEqual([]);
  });

  it('are not brought back while a process is at work there', async () => {
    const bench = await openSpares();
    await playTask(bench, 'one', () => undefined);
    const folder = join(bench.stateDirectory, 'work', '.spare');
    const files = join(folder, readdirSync(folder).find((name) => name.includes('.')) ?? '', 'files');
    const child = execFileSync('/bin/sh', ['-c', 'sleep 20 >/dev/null 2>&1 & echo $!'], { cwd: files })
      .toString()
      .trim();
    try {
      await tidyAll(bench);
      expect(pool(bench)).toEqual([]);
    } finally {
      process.kill(Number(child));
    }
  });

  it('are brought back after the run by a process that knows its settings', async () => {
    const bench = await openSpares();
    await playTask(bench, 'one', () => undefined);
    await playTask(bench, 'two', () => undefined);
    expect(pool(bench)).toEqual(['left', 'left']);
    const after = createGitWorkspaces(
      { ...portsIn(bench.root), spares: { most: 'as-before', from: 10 } },
      bench.report,
    );
    while (await after.tidySpares()) continue;
    expect(pool(bench)).toEqual(['ready']);
    await after.close();
  });

  it('are none while less space than wanted is free', async () => {
    const bench = await openSpares();
    const spares = { most: 1, from: 10, freeBytes: Number.MAX_SAFE_INTEGER };
    const full = createGitWorkspaces({ ...portsIn(bench.root), spares }, bench.report);
    while (await full.tidySpares(bench.report.head)) continue;
    expect(pool(bench)).toEqual([]);
    await full.close();
  });

  it('are not made where one would leave less than wanted, and then deleted and made again', async () => {
    const bench = await openSpares();
    const { bavail, bsize } = statfsSync(bench.root);
    // Less than a folder takes, and more than other programs write meanwhile.
    const spares = { most: 2, from: 10, freeBytes: bavail * bsize - 100_000 };
    const tight = createGitWorkspaces({ ...portsIn(bench.root), spares }, bench.report);
    expect(await tight.tidySpares(bench.report.head)).toBe(false);
    expect(pool(bench)).toEqual(['ready']);
    await tight.close();
  });

  it('are none, and those that are there go, where the person wants new ones', async () => {
    const bench = await openSpares();
    const none = createGitWorkspaces({ ...portsIn(bench.root), spares: { most: 0, from: 10 } }, bench.report);
    while (await none.tidySpares(bench.report.head)) continue;
    expect(pool(bench)).toEqual([]);
    await none.close();
  });
});
