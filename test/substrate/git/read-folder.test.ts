// @module-tag all
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
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
import { git } from '../../support/git.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { createRandom } from '../../support/random.ts';
import { benchOver, keptRefs, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

async function open(bench: GitBench, task = 'one') {
  const folder = await bench.workspaces.addFolder({ run: 'r', task, commit: bench.report.head });
  const { path } = folder.workspace;
  const look = async (): Promise<string> => {
    const seen = await bench.workspaces.snapshot(folder);
    if (seen.type !== 'snapshot') throw new Error(seen.reason);
    return seen.tree;
  };
  return { folder, path, look };
}

/** What git itself makes of the folder. */
function treeByGit(path: string): string {
  git(path, 'add', '--all');
  return git(path, 'write-tree');
}

describe('the files of a folder', () => {
  it(
    'are those that git sees, whatever is ignored where, after each of many changes',
    { ...SPREAD, timeout: 120_000 },
    async () => {
      const files = {
        '.gitignore': '*.log\n!keep.log\n/built/\n',
        'a/.gitignore': 'deep\n!x.log\n',
        'a/b/c.txt': 'c\n',
        'd/e.txt': 'e\n',
        'built/kept.txt': 'k\n',
      };
      const bench = await openBench({}, (repository) => {
        for (const [name, text] of Object.entries(files)) {
          mkdirSync(join(repository, name, '..'), { recursive: true });
          writeFileSync(join(repository, name), text);
        }
        git(repository, 'add', '--all', '--force');
        git(repository, 'commit', '-qm', 'files');
        appendFileSync(join(repository, '.git/info/exclude'), '*.mine\n');
      });
      const { path, look } = await open(bench);
      const random = createRandom(27);
      const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
      const names = [
        'c.txt',
        'x.log',
        'keep.log',
        'deep',
        'built',
        'e.mine',
        ' s p ',
        ':(glob)y',
        '-z',
        'ü\n*',
        '#h',
        '!n',
      ];
      const rules = [
        '*.txt',
        '!c.txt',
        'deep/',
        '/x.log',
        'built',
        '!/built',
        'a/**',
        '**/b',
        '*',
        '!*/',
        ' s p\\ ',
        '\\#h',
      ];
      for (let round = 0; round < spread(12, 100); round += 1) {
        const folders = ['', 'a', 'a/b', 'd', 'built', 'new', 'new/er', 'a/deep', one(names)];
        for (let change = 0; change < 4; change += 1) {
          const place = join(path, one(folders));
          const target = join(place, one(names));
          const kind = random();
          try {
            mkdirSync(place, { recursive: true });
            if (kind < 0.2) rmSync(target, { recursive: true, force: true });
            else if (kind < 0.35) writeFileSync(join(place, '.gitignore'), `${one(rules)}\n${one(rules)}\n`);
            else if (kind < 0.45) symlinkSync(one(['..', 'nowhere', '/etc']), target);
            else if (kind < 0.55) mkdirSync(target);
            else if (kind < 0.6) renameSync(target, join(path, one(names)));
            else writeFileSync(target, `${round}\n`, { mode: random() < 0.5 ? 0o755 : 0o644 });
          } catch {
            // A file where a folder should be, and the like: the next change is another one.
          }
        }
        const seen = await look();
        expect(seen, `round ${round}`).toBe(treeByGit(path));
        git(path, 'reset', '--quiet');
      }
      await bench.workspaces.close();
    },
  );

  it('are read again when only their bytes have changed: the same size, and times of another year', async () => {
    const bench = await openBench({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const { path, look } = await open(bench);
    const before = await look();
    const { mtime } = await import('node:fs').then(({ statSync }) => statSync(join(path, 'a.txt')));
    writeFileSync(join(path, 'a.txt'), 'eno\n');
    utimesSync(join(path, 'a.txt'), mtime, mtime);
    expect(await look()).not.toBe(before);
    writeFileSync(join(path, 'a.txt'), 'one\n');
    utimesSync(join(path, 'a.txt'), new Date('2030-01-01'), new Date('2030-01-01'));
    expect(await look()).toBe(before);
    chmodSync(join(path, 'b.txt'), 0o755);
    expect(await look()).toBe(treeByGit(path));
    await bench.workspaces.close();
  });

  it('are found among thousands, where git compares what the system says of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 2100 }, (_, n) => [`d${n % 7}/f${n}.txt`, `${n}\n`]));
    const bench = await openBench(many);
    const { folder, path, look } = await open(bench);
    // As if it had been written later than the second of its files, which are read otherwise.
    const index = join(path, '..', '.squad', `${folder.task}.index`);
    utimesSync(index, new Date(Date.now() + 5000), new Date(Date.now() + 5000));
    expect(await bench.workspaces.snapshot(folder)).toMatchObject({ clean: true });
    writeFileSync(join(path, 'd0/f7.txt'), '8\n');
    chmodSync(join(path, 'd1/f8.txt'), 0o755);
    rmSync(join(path, 'd2/f2.txt'));
    symlinkSync('f9.txt', join(path, 'd2/f2.txt'));
    rmSync(join(path, 'd3/f3.txt'));
    mkdirSync(join(path, 'd3/f3.txt'));
    git(join(path, 'd3/f3.txt'), 'init', '-q');
    git(join(path, 'd3/f3.txt'), 'commit', '-q', '--allow-empty', '-m', 'nested');
    rmSync(join(path, 'd4'), { recursive: true });
    writeFileSync(join(path, 'd5/new.txt'), 'new\n');
    expect(await look()).toBe(treeByGit(path));
    await bench.workspaces.close();
  });

  it('are found in folders that were as they should be, whatever becomes of the names in one and of its times', async () => {
    const changes: Readonly<Record<string, (folder: string) => void>> = {
      'a new file': (folder) => writeFileSync(join(folder, 'new'), ''),
      'a file that is gone': (folder) => rmSync(join(folder, 'one')),
      'a file that is written again': (folder) => writeFileSync(join(folder, 'one'), 'other'),
      'a link in place of a file': (folder) => {
        rmSync(join(folder, 'one'));
        symlinkSync('two', join(folder, 'one'));
      },
      'a folder in place of a file': (folder) => {
        rmSync(join(folder, 'one'));
        mkdirSync(join(folder, 'one'));
        writeFileSync(join(folder, 'one', 'in'), '');
      },
      'a file that replaces another': (folder) => renameSync(join(folder, 'one'), join(folder, 'two')),
      'files that change places': (folder) => {
        renameSync(join(folder, 'one'), join(folder, 'new'));
        renameSync(join(folder, 'two'), join(folder, 'one'));
        renameSync(join(folder, 'new'), join(folder, 'two'));
      },
      'a file in a new folder': (folder) => {
        mkdirSync(join(folder, 'new'));
        writeFileSync(join(folder, 'new', 'in'), '');
      },
      'a file in a folder of it': (folder) => writeFileSync(join(folder, 'deep', 'new'), ''),
      'a folder of it that is gone': (folder) => rmSync(join(folder, 'deep'), { recursive: true }),
      'another folder at its place': (folder) => {
        renameSync(folder, `${folder}-away`);
        mkdirSync(folder);
        writeFileSync(join(folder, 'one'), '1\n');
      },
      'nothing at all': () => undefined,
    };
    const names = Object.keys(changes);
    const files = names.flatMap((name) => ['one', 'two', 'deep/three'].map((file) => [`${name}/${file}`, '1\n']));
    const bench = await openBench(Object.fromEntries(files));
    const { folder, path, look } = await open(bench);
    const before = await look();
    // A folder counts as settled when its last change is over for a while.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    for (const _ of [1, 2])
      expect(await bench.workspaces.snapshot(folder)).toMatchObject({ clean: true, tree: before });
    for (const [name, change] of Object.entries(changes)) {
      const at = join(path, name);
      const { atime, mtime } = statSync(at);
      change(at);
      utimesSync(at, atime, mtime);
    }
    expect(await look()).toBe(treeByGit(path));
    await bench.workspaces.close();
  });

  it('among thousands are read by git once their second is over, and a change of equal size and time is seen all the same', async () => {
    const many = Object.fromEntries(Array.from({ length: 2100 }, (_, n) => [`d${n % 7}/f${n}.txt`, `${n}\n`]));
    const bench = await openBench(many);
    const { folder, path, look } = await open(bench);
    const index = join(path, '..', '.squad', `${folder.task}.index`);
    const names = [...Array(2100).keys()].map((n) => `d${n % 7}/f${n}.txt`);
    const second = (name: string): number => Math.floor(statSync(join(path, name)).mtimeMs / 1000);
    const newest = names.toSorted((one, other) => second(other) - second(one))[0] ?? '';
    const written = second(newest);
    // As if it had been written right after that file.
    utimesSync(index, written + 0.9999, written + 0.9999);
    const before = git(bench.repository, 'rev-parse', 'HEAD^{tree}');
    await new Promise((resolve) => setTimeout(resolve, (written + 1) * 1000 - Date.now() + 10));
    expect(await look()).toBe(before);
    expect(statSync(index).mtimeMs).toBe((written + 1) * 1000);
    const file = join(path, newest);
    const { mtime } = statSync(file);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\d/, 'x'));
    utimesSync(file, mtime, mtime);
    expect(await look()).toBe(treeByGit(path));
    await bench.workspaces.close();
  });

  it.each([
    ['core.safecrlf', { 'core.autocrlf': 'true', 'core.safecrlf': 'true' }, ''],
    ['working-tree-encoding', {}, '[b-d].txt working-tree-encoding=UTF-16\n'],
    ['ident and line ends', { 'core.autocrlf': 'input' }, '*.txt ident text eol=crlf\n'],
  ])('are read, kept and delivered as they are with %s, and the folder goes', async (_, settings, attributes) => {
    const files = { 'a.txt': '$Id$ one\n', ...(attributes === '' ? {} : { '.gitattributes': attributes }) };
    const bench = await openBench(files, (repository) => {
      for (const [key, value] of Object.entries(settings)) git(repository, 'config', key, value);
    });
    const { workspaces, report } = bench;
    await workspaces.createRunBranch('r', report.head);
    const { folder, path } = await open(bench);
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('$Id$ one\n');
    expect(await workspaces.snapshot(folder)).toMatchObject({ clean: true });
    expect(git(path, 'status', '--porcelain')).toBe('');
    const texts = { 'b.txt': 'LF\n', 'c.txt': 'mixed\r\nlines\n', 'd.txt': '$Id$\r\n' };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(path, name), text);
    const kept = await workspaces.rescue(folder, 'one-1');
    if (kept.type !== 'kept') throw new Error(kept.reason);
    for (const [name, text] of Object.entries(texts)) {
      expect(Buffer.from((await workspaces.readFileAt(kept.commit, name, 100)) as Uint8Array).toString()).toBe(text);
    }
    expect(await workspaces.integrate({ run: 'r', commit: kept.commit, message: 'm' })).toMatchObject({
      type: 'candidate',
    });
    const there = await workspaces.integrationAt('r', kept.commit);
    expect(git(there.workspace.path, 'status', '--porcelain')).toBe('');
    expect(await workspaces.removeFolder(folder, 'one-2')).toMatchObject({ type: 'removed' });
    expect(existsSync(path)).toBe(false);
    await workspaces.close();
  });
});

describe('what the user ignores in all repositories', () => {
  it.each([
    ['at git’s default place', (root: string) => join(root, '.config/git/ignore'), undefined],
    ['in the file that a setting names', (root: string) => join(root, 'mine'), '~/mine'],
  ])('%s: is in no commit, also of an agent whose git gets another file', async (_, place, setting) => {
    const bench = await openBench({ 'a.txt': 'a\n' });
    const file = place(bench.root);
    mkdirSync(join(file, '..'), { recursive: true });
    // Without a line end.
    writeFileSync(file, '.env');
    if (setting !== undefined) git(bench.repository, 'config', 'core.excludesFile', setting);
    appendFileSync(join(bench.repository, '.git/info/exclude'), 'own\n');
    // A new engine: the settings are read once.
    const { workspaces, report } = await benchOver(bench.root, bench.repository);
    const folder = await workspaces.addFolder({ run: 'r', task: 'one', commit: report.head });
    const { path } = folder.workspace;
    for (const name of ['.env', 'own', 'b.txt']) writeFileSync(join(path, name), 'x\n');
    const kept = await workspaces.rescue(folder, 'one-1');
    if (kept.type !== 'kept') throw new Error(kept.reason);
    expect((await workspaces.changedFiles(report.head, kept.commit)).map((one) => one.path)).toEqual(['b.txt']);
    // As claude's sandbox does it.
    git(path, '-c', 'core.excludesFile=/dev/null', 'add', '--all');
    expect(git(path, 'diff', '--cached', '--name-only')).toBe('b.txt');
    expect(keptRefs(bench)).toContain('one-1');
    await workspaces.close();
  });
});

describe('work that git ignores', () => {
  async function openIgnoring(): Promise<GitBench> {
    const bench = await openBench({ '.gitignore': 'node_modules\nout/\n', 'a.txt': 'a\n' });
    appendFileSync(join(bench.repository, '.git/info/exclude'), '*.txt\n');
    return benchOver(bench.root, bench.repository);
  }

  it('is known by what was there before the turns, and told with the rule that ignores it', async () => {
    const bench = await openIgnoring();
    const { workspaces, report } = bench;
    const { path } = await open(bench);
    mkdirSync(join(path, 'node_modules/p'), { recursive: true });
    for (const name of ['node_modules/p/i.js', 'old.txt', 'same.txt']) writeFileSync(join(path, name), 'setup\n');
    // Commands have run there, so it is not fresh.
    const { folder } = await open(bench);
    expect(await workspaces.ignoredWork(folder, report.head)).toEqual({ paths: [], more: 0 });
    await workspaces.noteIgnored(folder);
    writeFileSync(join(path, 'old.txt'), 'changed\n');
    writeFileSync(join(path, 'new.txt'), 'new\n');
    writeFileSync(join(path, 'node_modules/p/j.js'), 'more\n');
    mkdirSync(join(path, 'out'));
    writeFileSync(join(path, 'out/o.bin'), 'o\n');
    // The next turn of the task: what the first one wrote is still the task's work.
    await workspaces.noteIgnored(folder);
    const { paths, more } = await workspaces.ignoredWork(folder, report.head);
    expect(paths.toSorted((one, two) => one.path.localeCompare(two.path))).toEqual([
      { path: 'new.txt', by: 'info/exclude' },
      { path: 'old.txt', by: 'info/exclude' },
      { path: 'out/', by: '.gitignore' },
    ]);
    expect(more).toBe(0);
    for (let n = 0; n < 1500; n += 1) writeFileSync(join(path, `${n}.txt`), '');
    const all = await workspaces.ignoredWork(folder, report.head);
    expect(all.paths.length + all.more).toBe(1503);
    expect(all.paths.length).toBe(20);
    await workspaces.close();
  });

  it.each([
    ['by the user’s rule', '**/.claude/.cc-writes/\n'],
    ['with the folder around it', '.claude\n'],
    ['by no rule of theirs', ''],
  ])('leaves out what a runtime’s own program keeps in the folder: ignored %s', async (_, rules) => {
    const bench = await openIgnoring();
    appendFileSync(join(bench.repository, '.git/info/exclude'), rules);
    const { workspaces, report } = await benchOver(bench.root, bench.repository);
    const { folder, path } = await open({ ...bench, workspaces });
    await workspaces.noteIgnored(folder);
    mkdirSync(join(path, '.claude/.cc-writes/deep'), { recursive: true });
    writeFileSync(join(path, '.claude/.cc-writes/deep/one'), 'x\n');
    writeFileSync(join(path, 'b.md'), 'b\n');
    expect(await workspaces.ignoredWork(folder, report.head)).toEqual({ paths: [], more: 0 });
    const kept = await workspaces.rescue(folder, 'one-1');
    if (kept.type !== 'kept') throw new Error(kept.reason);
    expect((await workspaces.changedFiles(report.head, kept.commit)).map((one) => one.path)).toEqual(['b.md']);
    expect(git(path, 'status', '--short', '--untracked-files=all')).toBe('?? b.md');
    // What an agent wrote beside it is still its work.
    writeFileSync(join(path, '.claude/settings.json'), '{}\n');
    const { paths } = await workspaces.ignoredWork(folder, report.head);
    expect(paths.map((one) => one.path)).toEqual(rules.startsWith('.') ? ['.claude/'] : []);
    await workspaces.close();
  });

  it('of a failed task is kept at the ref of its last attempt, up to a size; else it goes with the folder', async () => {
    const bench = await openIgnoring();
    const { workspaces, repository } = bench;
    const kept = async (task: string, failed: boolean): Promise<string> => {
      const { folder, path } = await open(bench, task);
      await workspaces.noteIgnored(folder);
      mkdirSync(join(path, 'out/in'), { recursive: true });
      for (const name of ['b.txt', 'out/in/c.txt']) writeFileSync(join(path, name), `${name}\n`);
      writeFileSync(join(path, 'large.txt'), Buffer.alloc(1_048_577));
      mkdirSync(join(path, 'node_modules'));
      writeFileSync(join(path, 'node_modules/large.js'), Buffer.alloc(1_048_577));
      writeFileSync(join(path, 'node_modules/small.js'), 'x');
      expect(await workspaces.removeFolder(folder, `${task}-1`, failed)).toMatchObject({ type: 'removed' });
      return keptRefs(bench);
    };
    expect(await kept('done', false)).toBe('');
    expect(await kept('failed', true)).toBe('refs/squad/r/failed-1');
    expect(git(repository, 'ls-tree', '-r', '--name-only', 'refs/squad/r/failed-1').split('\n')).toEqual([
      '.gitignore',
      'a.txt',
      'b.txt',
      'out/in/c.txt',
      'readme.md',
    ]);
    expect(git(repository, 'show', 'refs/squad/r/failed-1:out/in/c.txt')).toBe('out/in/c.txt');
    expect(git(repository, 'log', '-1', '--format=%B', 'refs/squad/r/failed-1')).toContain('"b.txt"\n"out/in/c.txt"');
    await workspaces.close();
  });
});
