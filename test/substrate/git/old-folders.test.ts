import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { git } from '../../support/git.ts';
import { commitIn, findFaults, fingerprint, openBench, removeFolders } from './bench.ts';

afterEach(removeFolders);

it('a worktree of an older version becomes a folder with a repository of its own, with its commit and its files', async () => {
  const bench = await openBench({ 'a.txt': 'a\n', '.gitignore': 'built\n' });
  const { workspaces, repository, report, stateDirectory } = bench;
  git(repository, 'pack-refs', '--all');
  const before = fingerprint(repository);
  // As the older version left it: a worktree of the user's repository, a half-made one, and the engine's notes.
  const run = join(stateDirectory, report.key, 'run');
  const [path, half] = [join(run, 'task'), join(run, 'half')];
  for (const folder of [path, half]) git(repository, 'worktree', 'add', '-q', '--detach', folder, report.head);
  const common = join(repository, '.git');
  const old = {
    run: 'run',
    task: 'task',
    base: report.head,
    workspace: { path, git: { commonDirectory: common, worktreeDirectory: join(common, 'worktrees/task') } },
    configHash: 'x',
    resetFor: 'task-2',
  };
  mkdirSync(join(run, '.squad'));
  writeFileSync(join(run, '.squad/task.json'), `${JSON.stringify(old)}\n`);
  copyFileSync(join(common, 'worktrees/task/index'), join(run, '.squad/task.index'));
  writeFileSync(join(run, '.squad/half.adding'), 'git-dead');
  git(repository, 'update-ref', 'refs/heads/squad/run', report.head);
  const work = commitIn({ ...old, workspace: { path } }, { 'b.txt': 'b\n' });
  writeFileSync(join(path, 'draft.txt'), 'draft\n');
  writeFileSync(join(path, 'built'), 'built\n');

  const place = { run: 'run', task: 'task', commit: report.head };
  const worktree = await workspaces.addFolder(place);
  expect(worktree).toMatchObject({ base: report.head, resetFor: 'task-2', workspace: { path, repository: true } });
  expect(worktree.workspace).not.toHaveProperty('git');
  expect(existsSync(join(common, 'worktrees'))).toBe(false);
  expect(git(path, 'rev-parse', '--absolute-git-dir', 'HEAD')).toBe(`${join(path, '.git')}\n${work}`);
  // Nothing else has the commit now.
  git(repository, 'gc', '-q', '--prune=now');
  expect(await workspaces.rescue(worktree, 'task-2')).toMatchObject({ type: 'kept', head: work, clean: false });
  expect(git(repository, 'ls-tree', '--name-only', 'refs/squad/run/task-2')).toBe(
    '.gitignore\na.txt\nb.txt\ndraft.txt\nreadme.md',
  );
  expect(existsSync(join(path, 'built'))).toBe(true);
  expect(await workspaces.removeFolder({ run: 'run', task: 'half' }, 'half')).toMatchObject({ type: 'removed' });
  expect(await workspaces.removeFolder(worktree, 'task-2')).toMatchObject({ type: 'removed' });
  expect(await workspaces.closeRun('run')).toEqual([]);
  const after = fingerprint(repository);
  // The garbage collection above writes this file.
  expect(Object.keys(before).filter((key) => after[key] !== before[key] && !key.endsWith('packed-refs'))).toEqual([]);
  expect(findFaults(bench)).toEqual([]);
  await workspaces.close();
});
