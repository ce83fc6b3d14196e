import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGitWorkspaces } from '../../../../src/substrate/git/git-workspaces.ts';
import type { TaskFolder, Workspaces } from '../../../../src/substrate/ports/workspaces.ts';
import { benchOver, commitIn, portsIn, removeFolders, temporaryFolder, type GitBench } from '../bench.ts';
import { createRepository, git } from '../../../support/git.ts';

afterEach(removeFolders);

const FILES = Object.fromEntries([
  ...Array.from({ length: 60 }, (_, index) => [
    `src/part-${index % 7}/file-${index}.ts`,
    `export const x = ${index};\n`,
  ]),
  ['.gitignore', 'dist\nnode_modules\n*.log\n'],
  ['run.sh', '#!/bin/sh\n'],
]);
const RUN = 'run';

interface SpareBench extends GitBench {
  readonly spare: Workspaces;
}

/** With one that is ready, and old enough for the times of its files to count. */
async function openSpares(): Promise<SpareBench> {
  const root = temporaryFolder();
  const repository = createRepository(join(root, 'repository'), FILES);
  chmodSync(join(repository, 'run.sh'), 0o755);
  symlinkSync('run.sh', join(repository, 'link'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'modes and links');
  const bench = await benchOver(root, repository);
  const spare = createGitWorkspaces({ ...portsIn(root), spares: { most: 1, from: 10, freeBytes: 0 } }, bench.report);
  await spare.createRunBranch(RUN, bench.report.head);
  const opened = { ...bench, spare };
  await tidyAll(opened, bench.report.head);
  await settle();
  return opened;
}

/** A task's turn, and the removal of its folder once its work is kept. */
async function playTask({ spare, report }: SpareBench, task: string, act: (folder: TaskFolder) => void): Promise<void> {
  const folder = await spare.addFolder({ run: RUN, task, commit: report.head });
  await settle();
  act(folder);
  const answer = await spare.removeFolder(folder, `${task}-1`);
  expect(answer).toMatchObject({ type: 'removed' });
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60));
}

async function tidyAll({ spare }: SpareBench, commit?: string): Promise<void> {
  for (let steps = 0; await spare.tidySpares(commit); steps += 1) if (steps > 50) throw new Error('it does not end');
}

function pool({ stateDirectory }: GitBench): readonly string[] {
  const folder = join(stateDirectory, 'work', '.spare');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => name.split('.')[1] ?? []);
}

/** By `find`: kind, mode, owner, links, size and target of all that is there, without its git directory. */
function listing(folder: string): string {
  const format = '%P %y %m %U %G %n %l %s\n'.replace('%s', '');
  const found = execFileSync('find', [folder, '-path', join(folder, '.git'), '-prune', '-o', '-printf', format]);
  return found.toString().split('\n').toSorted().join('\n');
}

function contents(folder: string): string {
  const script = 'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum';
  return execFileSync('/bin/sh', ['-c', script], { cwd: folder }).toString();
}

/** The next task's folder is what a new one would be. */
async function expectFresh(bench: SpareBench, task: string, commit = bench.report.head): Promise<TaskFolder> {
  const used = await bench.spare.addFolder({ run: RUN, task, commit });
  const fresh = await bench.workspaces.addFolder({ run: 'other', task, commit });
  expect(listing(used.workspace.path)).toBe(listing(fresh.workspace.path));
  expect(contents(used.workspace.path)).toBe(contents(fresh.workspace.path));
  expect(git(used.workspace.path, 'status', '--porcelain', '--ignored')).toBe('');
  return used;
}

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
    const used = await expectFresh(bench, 'two');
    const names =
      'import os,sys\nfor top, folders, files in os.walk(sys.argv[1]):\n  for n in folders + files:\n    p = os.path.join(top, n)\n    if not os.path.islink(p) and os.listxattr(p): print(p)';
    expect(execFileSync('python3', ['-c', names, used.workspace.path]).toString()).toBe('');
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

  it('are none, and those that are there go, where the person wants new ones', async () => {
    const bench = await openSpares();
    const none = createGitWorkspaces({ ...portsIn(bench.root), spares: { most: 0, from: 10 } }, bench.report);
    while (await none.tidySpares(bench.report.head)) continue;
    expect(pool(bench)).toEqual([]);
    await none.close();
  });
});
