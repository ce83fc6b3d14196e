// @module-tag all
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { emptyTree } from '../../../src/substrate/git/raw-diff.ts';
import { createRepository, git } from '../../support/git.ts';
import {
  benchOver,
  commitIn,
  keptIn,
  findFaults,
  fingerprint,
  openBench,
  plant,
  refusalOf,
  removeFolders,
  temporaryFolder,
} from './bench.ts';

afterEach(removeFolders);

describe('standOn', () => {
  it('moves HEAD alone: files stay, and all that differs is staged or not in the index at all', async () => {
    const bench = await openBench();
    const { workspaces } = bench;
    const base = bench.report.head;
    const worktree = await workspaces.addFolder({ run: 'run', task: 'task', commit: base });
    const { path } = worktree.workspace;
    const branches = git(bench.repository, 'for-each-ref', 'refs/heads');
    const work = await keptIn(workspaces, worktree, { 'a.txt': 'a\n' });
    await workspaces.standOn(worktree, base, 'staged');
    expect(git(path, 'status', '--porcelain')).toBe('A  a.txt');
    git(path, 'commit', '-q', '-m', 'as it stands');
    const snapshot = await workspaces.snapshot(worktree);
    expect(snapshot).toMatchObject({ clean: true, head: git(path, 'rev-parse', 'HEAD') });
    expect(await workspaces.changedFiles(work, git(path, 'rev-parse', 'HEAD'))).toEqual([]);
    await workspaces.standOn(worktree, base, 'follows');
    expect(git(path, 'status', '--porcelain')).toBe('?? a.txt');
    expect(git(bench.repository, 'for-each-ref', 'refs/heads')).toBe(branches);
    expect(await workspaces.mergeBase(work, base)).toBe(base);
  });
});

describe('addFolder', () => {
  it('makes 16 at once, for two runs, all of them sound', async () => {
    const bench = await openBench(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`src/${n}.txt`, `${n}\n`])));
    const before = fingerprint(bench.repository);
    const other = createGitWorkspaces(bench.ports, bench.report);
    const commit = bench.report.head;
    const made = await Promise.all(
      Array.from({ length: 16 }, async (_, n) =>
        (n % 2 === 0 ? bench.workspaces : other).addFolder({
          run: n % 2 === 0 ? 'run' : 'other',
          task: `task-${n}`,
          commit,
        }),
      ),
    );
    for (const { workspace } of made) {
      expect(git(workspace.path, 'status', '--porcelain')).toBe('');
      expect(readFileSync(join(workspace.path, '.git/HEAD'), 'utf8')).toBe(`${commit}\n`);
    }
    expect(fingerprint(bench.repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
    for (const worktree of made) {
      expect(await bench.workspaces.removeFolder(worktree, 'a-1')).toEqual({ type: 'removed', rescued: false });
    }
    expect(fingerprint(bench.repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });

  it('gives every attempt of a task the same one, also to the next engine', async () => {
    const bench = await openBench();
    const place = { run: 'run', task: 'task', commit: bench.report.head };
    const first = await bench.workspaces.addFolder(place);
    const commit = commitIn(first, { 'a.txt': 'a\n' });
    writeFileSync(join(first.workspace.path, 'draft.txt'), 'draft\n');
    const next = createGitWorkspaces(bench.ports, bench.report);
    expect(first.fresh).toBe(true);
    expect(await next.addFolder({ ...place, commit })).toEqual({ ...first, fresh: undefined });
    expect(readFileSync(join(first.workspace.path, 'draft.txt'), 'utf8')).toBe('draft\n');
    // Somebody deleted the folder: the task goes on from what the engine had kept.
    await next.rescue(first, 'task-1');
    rmSync(first.workspace.path, { recursive: true });
    const again = await next.addFolder({ ...place, kept: commit });
    expect(again).toEqual({ ...first, fresh: undefined, remade: 1 });
    expect(git(again.workspace.path, 'rev-parse', 'HEAD')).toBe(commit);
    expect(findFaults(bench)).toEqual([]);
  });

  it('touches nothing where a turn may still work, and takes what could arm git before the next one', async () => {
    const bench = await openBench();
    const place = { run: 'run', task: 'task', commit: bench.report.head };
    const { path } = (await bench.workspaces.addFolder(place)).workspace;
    const arms = ['config.worktree', 'commondir', 'index.lock', 'hooks/pre-commit'].map((name) =>
      join(path, '.git', name),
    );
    mkdirSync(join(path, '.git', 'hooks'), { recursive: true });
    for (const file of arms) writeFileSync(file, '');
    const next = createGitWorkspaces(bench.ports, bench.report);
    await next.addFolder({ ...place, inUse: true });
    expect(arms.filter((file) => existsSync(file))).toEqual(arms);
    await next.addFolder(place);
    expect(arms.filter((file) => existsSync(file))).toEqual([]);
  });

  it('two tasks of one name in two runs do not meet', async () => {
    const bench = await openBench();
    const commit = bench.report.head;
    const one = await bench.workspaces.addFolder({ run: 'one', task: 'task', commit });
    const two = await bench.workspaces.addFolder({ run: 'two', task: 'task', commit });
    expect(one.workspace.path).not.toBe(two.workspace.path);
    await bench.workspaces.removeFolder(one, 'a-1');
    expect(git(two.workspace.path, 'status', '--porcelain')).toBe('');
    expect(findFaults(bench)).toEqual([]);
  });

  it('refuses names that lead elsewhere, commits that are none, and a folder that is somebody’s', async () => {
    const bench = await openBench();
    const commit = bench.report.head;
    for (const name of ['../x', '-x', 'a/b', '', 'A', '.git', 'a..b', 'x\n', 'x.lock', '_integration2']) {
      const place = { run: 'run', task: name, commit };
      expect((await refusalOf(bench.workspaces.addFolder(place))).code, name).toBe('bad-input');
      expect((await refusalOf(bench.workspaces.createRunBranch(name, commit))).code, name).toBe('bad-input');
      expect((await refusalOf(bench.workspaces.keepAttempt('run', name, commit))).code, name).toBe('bad-input');
    }
    for (const id of ['HEAD', '--orphan', 'main', commit.slice(0, 12), `${commit}\n`]) {
      const place = { run: 'run', task: 'task', commit: id };
      expect((await refusalOf(bench.workspaces.addFolder(place))).code, id).toBe('bad-input');
    }
    const missing = '0123456789012345678901234567890123456789';
    const refused = await refusalOf(bench.workspaces.addFolder({ run: 'run', task: 'gone', commit: missing }));
    expect(refused.code).toBe('wrong-environment');
    const mine = join(bench.ports.runsDirectory, 'run', 'mine');
    mkdirSync(mine, { recursive: true });
    const foreign = await refusalOf(bench.workspaces.addFolder({ run: 'run', task: 'mine', commit }));
    expect(foreign.message).toContain('squad did not create it');
    expect(findFaults(bench)).toEqual([]);
    expect(await bench.workspaces.addFolder({ run: 'run', task: 'gone', commit })).toMatchObject({ task: 'gone' });
  });
});

describe('snapshot and rescue', () => {
  it('keeps committed and uncommitted work, by bytes, and leaves the agent’s index alone', async () => {
    const bench = await openBench({
      'a.txt': 'a\n',
      'b.txt': 'b\n',
      '.gitignore': 'ignored\n',
      'src/deep/c.txt': 'c\n',
    });
    const before = fingerprint(bench.repository);
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const { path } = worktree.workspace;
    const own = join(path, '.git');
    expect(await bench.workspaces.snapshot(worktree)).toMatchObject({ clean: true, head: bench.report.head });
    const head = commitIn(worktree, { 'made.txt': 'made\n' });
    writeFileSync(join(path, 'a.txt'), 'x\n');
    rmSync(join(path, 'b.txt'));
    writeFileSync(join(path, 'ignored'), 'no\n');
    writeFileSync(join(path, 'Zwölf 日本.txt'), 'new\n');
    // An agent may tell its own index to look away; and one whose index is locked is killed all the time.
    git(path, 'update-index', '--assume-unchanged', 'a.txt');
    writeFileSync(join(own, 'index.lock'), '');
    const index = readFileSync(join(own, 'index'));
    const kept = await bench.workspaces.rescue(worktree, 'task-1');
    if (kept.type !== 'kept') throw new Error(kept.type);
    expect(readFileSync(join(own, 'index')).equals(index)).toBe(true);
    expect(git(bench.repository, 'rev-parse', 'refs/squad/run/task-1', 'refs/squad/run/task-1^')).toBe(
      `${kept.commit}\n${head}`,
    );
    const files = await bench.workspaces.changedFiles(head, kept.commit);
    expect(files).toEqual([
      { path: 'Zwölf 日本.txt', status: 'added' },
      { path: 'a.txt', status: 'modified' },
      { path: 'b.txt', status: 'deleted' },
    ]);
    expect(await bench.workspaces.rescue(worktree, 'task-1')).toEqual(kept);
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toEqual({
      type: 'removed',
      kept: kept.commit,
      rescued: true,
    });
    expect(existsSync(path)).toBe(false);
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toEqual({ type: 'removed', rescued: false });
    expect(fingerprint(bench.repository)).toEqual(before);
    expect(findFaults(bench)).toEqual([]);
  });

  it('takes files for committed that git ignores and an agent added all the same', async () => {
    const bench = await openBench({ '.gitignore': '*.log\n', 'a.txt': 'a\n' });
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const { path } = worktree.workspace;
    writeFileSync(join(path, 'kept.log'), 'kept\n');
    writeFileSync(join(path, 'a.txt'), 'b\n');
    git(path, 'add', '-f', 'kept.log', 'a.txt');
    git(path, 'commit', '-q', '-m', 'forced');
    expect(await bench.workspaces.snapshot(worktree)).toMatchObject({ clean: true });
    writeFileSync(join(path, 'kept.log'), 'changed\n');
    expect(await bench.workspaces.snapshot(worktree)).toMatchObject({ clean: false });
    rmSync(join(bench.ports.runsDirectory, 'run', '.squad', 'task.index'));
    expect(await bench.workspaces.snapshot(worktree)).toMatchObject({ clean: false });
    git(path, 'checkout', '-q', 'kept.log');
    expect(await bench.workspaces.snapshot(worktree)).toMatchObject({ clean: true });
  });

  it('a second rescue under one name keeps the first one too', async () => {
    const bench = await openBench();
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    writeFileSync(join(worktree.workspace.path, 'x'), 'one\n');
    const one = await bench.workspaces.rescue(worktree, 'task-1');
    writeFileSync(join(worktree.workspace.path, 'x'), 'two\n');
    const two = await bench.workspaces.rescue(worktree, 'task-1');
    if (one.type !== 'kept' || two.type !== 'kept') throw new Error('not kept');
    expect(await bench.workspaces.isAncestor(one.commit, two.commit)).toBe(true);
    expect(git(bench.repository, 'show', `${two.commit}:x`)).toBe('two');
  });

  it('runs no filter, no hook and no fsmonitor that anybody planted', async () => {
    const bench = await openBench({ '.gitattributes': '*.txt filter=evil merge=evil diff=evil\n', 'a.txt': 'a\n' });
    const mark = join(bench.root, 'mark');
    const program = plant(join(bench.root, 'programs'), 'evil', mark);
    for (const key of ['clean', 'smudge', 'process']) git(bench.repository, 'config', `filter.evil.${key}`, program);
    git(bench.repository, 'config', 'filter.evil.required', 'true');
    git(bench.repository, 'config', 'filter.a=b.c.clean', program);
    for (const key of ['merge.evil.driver', 'diff.evil.textconv', 'diff.evil.command', 'core.fsmonitor']) {
      git(bench.repository, 'config', key, program);
    }
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'post-merge', 'pre-commit']) {
      plant(join(bench.repository, '.git', 'hooks'), hook, mark);
    }
    const { workspaces } = bench;
    await workspaces.createRunBranch('run', bench.report.head);
    const made = await Promise.all(
      ['one', 'two'].map(async (task) => {
        const worktree = await workspaces.addFolder({ run: 'run', task, commit: bench.report.head });
        writeFileSync(join(worktree.workspace.path, `${task}.txt`), `${task}\n`);
        writeFileSync(join(worktree.workspace.path, 'a.txt'), task === 'one' ? 'one\na\n' : 'a\n');
        return worktree;
      }),
    );
    for (const worktree of made) {
      const kept = await workspaces.rescue(worktree, `${worktree.task}-1`);
      if (kept.type !== 'kept') throw new Error(kept.type);
      const answer = await workspaces.integrate({ run: 'run', commit: kept.commit, message: 'm' });
      if (answer.type !== 'candidate') throw new Error(JSON.stringify(answer));
      expect(await workspaces.advance('run', answer.onto, answer.commit)).toEqual({ type: 'advanced' });
      await workspaces.diffStat(bench.report.head, answer.commit);
      await workspaces.removeFolder(worktree, `${worktree.task}-1`);
    }
    const head = (await workspaces.runHead('run'))!;
    expect(git(bench.repository, 'ls-tree', '--name-only', head)).toBe(
      '.gitattributes\na.txt\none.txt\nreadme.md\ntwo.txt',
    );
    expect(readdirSync(bench.root).filter((name) => name.startsWith('mark'))).toEqual([]);
    // The plants are alive: a plain git of the user's runs them.
    expect(() => git(bench.repository, 'worktree', 'add', '--detach', join(bench.root, 'plain'))).toThrow(
      'filter evil',
    );
    expect(readdirSync(bench.root)).toEqual(expect.arrayContaining(['mark-evil', 'mark-reference-transaction']));
  });
});

describe('removal', () => {
  it('refuses while there is a repository inside whose commits nobody else has', async () => {
    const bench = await openBench();
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const inner = join(worktree.workspace.path, 'vendor');
    git(worktree.workspace.path, 'init', '-q', 'vendor');
    const unborn = await bench.workspaces.removeFolder(worktree, 'task-1');
    expect(unborn).toMatchObject({ type: 'refused', reason: 'unreadable' });
    git(inner, 'commit', '-q', '--allow-empty', '-m', 'inner');
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toEqual({
      type: 'refused',
      reason: 'repositories',
      detail: ['vendor'],
    });
    expect(existsSync(inner)).toBe(true);
    rmSync(inner, { recursive: true });
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toMatchObject({ type: 'removed' });
  });

  it('never follows a link, and opens folders that cannot be written', async () => {
    const bench = await openBench();
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const outside = join(bench.root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'precious'), 'mine\n');
    symlinkSync(outside, join(worktree.workspace.path, 'link'));
    mkdirSync(join(worktree.workspace.path, 'closed', 'inner'), { recursive: true });
    writeFileSync(join(worktree.workspace.path, 'closed', 'inner', 'f'), 'f\n');
    chmodSync(join(worktree.workspace.path, 'closed', 'inner'), 0o500);
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toMatchObject({ type: 'removed', rescued: true });
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('mine\n');
    expect(existsSync(worktree.workspace.path)).toBe(false);
  });

  it('asks git only for what changed, and still finds a repository that the agent made or took away', async () => {
    const root = temporaryFolder();
    const repository = createRepository(join(root, 'repository'), { 'a.txt': 'a\n' });
    const calls = join(root, 'calls');
    const noting = join(root, 'git');
    writeFileSync(noting, `#!/bin/sh\necho "$@" >>'${calls}'\nexec /usr/bin/git "$@"\n`, { mode: 0o755 });
    const bench = await benchOver(root, repository, noting);
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const inner = createRepository(join(worktree.workspace.path, 'inner'));
    commitIn(worktree, { 'b.txt': 'b\n' });
    const refused = { type: 'refused', reason: 'repositories', detail: ['inner'] };
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toEqual(refused);
    git(worktree.workspace.path, 'rm', '-q', '--cached', 'inner');
    rmSync(inner, { recursive: true });
    writeFileSync(calls, '');
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toMatchObject({ type: 'removed' });
    const listed = readFileSync(calls, 'utf8').match(/diff-tree .*/g) ?? [];
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((one) => one.includes(emptyTree(bench.report.head)))).toEqual([]);
  });

  it('keeps what was taken over from a folder that somebody deleted', async () => {
    const bench = await openBench();
    const worktree = await bench.workspaces.addFolder({ run: 'run', task: 'task', commit: bench.report.head });
    const commit = await keptIn(bench.workspaces, worktree, { 'a.txt': 'a\n' });
    rmSync(worktree.workspace.path, { recursive: true });
    expect(await bench.workspaces.removeFolder(worktree, 'task-1')).toEqual({ type: 'removed', rescued: false });
    await bench.workspaces.closeRun('run');
    expect(git(bench.repository, 'rev-parse', 'refs/squad/run/task-1')).toBe(commit);
    expect(findFaults(bench)).toEqual([]);
  });
});
