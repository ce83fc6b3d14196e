import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { decideDangerousKeys } from '../../../src/substrate/git/baseline.ts';
import { decideNeutralSettings } from '../../../src/substrate/git/neutral-settings.ts';
import type { Worktree } from '../../../src/substrate/ports/workspaces.ts';
import { git } from '../../support/git.ts';
import { findFaults, openBench, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

async function openGuarded(arrange?: (repository: string) => void) {
  const bench = await openBench({}, arrange);
  const worktree = await bench.workspaces.addWorktree({ run: 'run', task: 'task', commit: bench.report.head });
  const baseline = JSON.parse(JSON.stringify(await bench.workspaces.takeBaseline()));
  const check = async () => bench.workspaces.checkBaseline(baseline, worktree);
  return { ...bench, worktree, check };
}

type Plant = (bench: GitBench & { worktree: Worktree }) => void;

describe('the shared side', () => {
  it.each<[string, string, 'added' | 'changed' | 'removed', Plant]>([
    ['a filter', 'config', 'changed', ({ repository }) => git(repository, 'config', 'filter.x.clean', 'evil')],
    ['an include', 'config', 'changed', ({ repository }) => git(repository, 'config', 'include.path', '/tmp/x')],
    ['a key from the future', 'config', 'changed', ({ repository }) => git(repository, 'config', 'new.thing', 'x')],
    ['another fsmonitor', 'config', 'changed', ({ repository }) => git(repository, 'config', 'core.fsmonitor', 'b')],
    ['a broken config', 'config', 'changed', ({ repository }) => writeFileSync(join(repository, '.git/config'), '[')],
    ['no config', 'config', 'removed', ({ repository }) => rmSync(join(repository, '.git/config'))],
    [
      'a config of its own',
      'config.worktree',
      'added',
      ({ repository }) => writeFileSync(join(repository, '.git/config.worktree'), ''),
    ],
    ['a hook', 'hooks/pre-push', 'added', ({ repository }) => hook(repository, 'pre-push', 0o755)],
    ['a hook that can be run now', 'hooks/old', 'changed', ({ repository }) => chmodSync(hookPath(repository), 0o755)],
    ['a hook less', 'hooks/old', 'removed', ({ repository }) => rmSync(hookPath(repository))],
    [
      'attributes',
      'info/attributes',
      'added',
      ({ repository }) => writeFileSync(join(repository, '.git/info/attributes'), '* filter=x\n'),
    ],
    [
      'alternates',
      'objects/info/alternates',
      'added',
      ({ repository }) => writeFileSync(join(repository, '.git/objects/info/alternates'), '/tmp\n'),
    ],
  ])('%s shows', async (_, file, problem, plant) => {
    const bench = await openGuarded((repository) => {
      hook(repository, 'old', 0o644);
      git(repository, 'config', 'core.fsmonitor', 'a');
    });
    expect(await bench.check()).toEqual({ type: 'unchanged' });
    plant(bench);
    expect(await bench.check()).toEqual({ type: 'changed', changes: [{ file, problem }] });
  });

  it('does not mind what a person does every day', async () => {
    const bench = await openGuarded();
    git(bench.repository, 'config', 'user.name', 'Somebody Else');
    git(bench.repository, 'remote', 'add', 'origin', 'https://example.invalid/x.git');
    git(bench.repository, 'config', 'branch.main.remote', 'origin');
    git(bench.repository, 'commit', '-q', '--allow-empty', '-m', 'meanwhile');
    expect(await bench.check()).toEqual({ type: 'unchanged' });
  });
});

describe('the worktree’s side', () => {
  const own = (worktree: Worktree, name: string) => join(worktree.workspace.git.worktreeDirectory, name);

  it.each<[string, 'changed' | 'removed' | 'symbolic-head' | 'foreign-pointer', (worktree: Worktree) => string]>([
    ['a symbolic HEAD', 'symbolic-head', (worktree) => write(own(worktree, 'HEAD'), 'ref: refs/heads/main\n')],
    ['no HEAD', 'symbolic-head', (worktree) => remove(own(worktree, 'HEAD'))],
    ['another common directory', 'changed', (worktree) => write(own(worktree, 'commondir'), '/tmp\n')],
    ['another way back', 'changed', (worktree) => write(own(worktree, 'gitdir'), '/tmp/.git\n')],
    ['settings', 'changed', (worktree) => write(own(worktree, 'config.worktree'), '[core]\n\tfsmonitor = evil\n')],
    ['no config.worktree', 'removed', (worktree) => remove(own(worktree, 'config.worktree'))],
    [
      'a pointer elsewhere',
      'foreign-pointer',
      (worktree) => write(join(worktree.workspace.path, '.git'), 'gitdir: /tmp'),
    ],
    ['no pointer', 'foreign-pointer', (worktree) => remove(join(worktree.workspace.path, '.git'))],
    [
      'a link for a pointer',
      'foreign-pointer',
      (worktree) => {
        const path = remove(join(worktree.workspace.path, '.git'));
        symlinkSync(worktree.workspace.git.worktreeDirectory, path);
        return path;
      },
    ],
  ])('%s shows', async (_, problem, spoil) => {
    const { worktree, check } = await openGuarded();
    const file = spoil(worktree);
    expect(await check()).toEqual({ type: 'changed', changes: [{ file, problem }] });
  });

  it('may be reached through a link of the engine’s own, as claude’s adapter needs it', async () => {
    const bench = await openGuarded();
    const { path, git: places } = bench.worktree.workspace;
    const links = join(bench.stateDirectory, 'claude', 'git');
    mkdirSync(links, { recursive: true });
    symlinkSync(places.worktreeDirectory, join(links, 'abc'));
    writeFileSync(join(path, '.git'), `gitdir: ${join(links, 'abc')}\n`);
    expect(await bench.check()).toEqual({ type: 'unchanged' });
    writeFileSync(join(path, 'new.txt'), 'new\n');
    expect(await bench.workspaces.removeWorktree(bench.worktree, 'task-1')).toMatchObject({ rescued: true });
    expect(findFaults(bench, 0)).toEqual([]);
  });

  it('a symbolic HEAD moves no branch and loses no work', async () => {
    const bench = await openGuarded();
    writeFileSync(join(bench.worktree.workspace.git.worktreeDirectory, 'HEAD'), 'ref: refs/heads/main\n');
    const answer = await bench.workspaces.removeWorktree(bench.worktree, 'task-1');
    expect(answer).toMatchObject({ type: 'refused', reason: 'unreadable' });
    expect(git(bench.repository, 'rev-parse', 'main')).toBe(bench.report.head);
  });
});

describe('lock files that a killed git left', () => {
  it('go when nobody can be their owner, and stay while somebody might', async () => {
    const { worktree, workspaces } = await openGuarded();
    const lock = join(worktree.workspace.git.worktreeDirectory, 'index.lock');
    expect(await workspaces.tidyWorktree(worktree)).toEqual({ removed: [], held: [] });
    writeFileSync(lock, '');
    const { spawn } = await import('node:child_process');
    const somebody = spawn('sleep', ['60'], { cwd: worktree.workspace.path, stdio: 'ignore' });
    await new Promise((resolve) => somebody.once('spawn', resolve));
    expect(await workspaces.tidyWorktree(worktree)).toEqual({ removed: [], held: [lock] });
    expect(await workspaces.removeWorktree(worktree, 'task-1')).toEqual({
      type: 'refused',
      reason: 'in-use',
      detail: [`process ${somebody.pid}`],
    });
    somebody.kill('SIGKILL');
    await new Promise((resolve) => somebody.once('exit', resolve));
    expect(await workspaces.tidyWorktree(worktree)).toEqual({ removed: [lock], held: [] });
  });
});

describe('pure parts', () => {
  it('takes every key that it does not know to be harmless for one that runs something', () => {
    const harmless = ['user.name\nx', 'branch.a.b.merge\nx', 'remote.o.url\nx', 'core.autocrlf\ninput', 'color.ui\nx'];
    const others = [
      'remote.o.uploadpack\nx',
      'core.hookspath\nx',
      'alias.x\n!x',
      'user\nx',
      'gpg.program',
      'core.x\n1',
    ];
    expect(decideDangerousKeys([...harmless, ...others, ''].join('\0'))).toEqual(others);
  });

  it('overrides every filter and merge driver, whatever its name', () => {
    expect(decideNeutralSettings(['filter.a.b=c.clean', 'merge.x.name', 'merge.x.driver', 'core.bare', ''])).toEqual([
      ['filter.a.b=c.clean', ''],
      ['filter.a.b=c.smudge', ''],
      ['filter.a.b=c.process', ''],
      ['filter.a.b=c.required', 'false'],
      ['merge.x.driver', 'git merge-file --marker-size=%L %A %O %B'],
    ]);
  });
});

function hookPath(repository: string, name = 'old'): string {
  return join(repository, '.git', 'hooks', name);
}

function hook(repository: string, name: string, mode: number): void {
  mkdirSync(join(repository, '.git', 'hooks'), { recursive: true });
  writeFileSync(hookPath(repository, name), '#!/bin/sh\n');
  chmodSync(hookPath(repository, name), mode);
  expect(readFileSync(hookPath(repository, name), 'utf8')).not.toBe('');
}

function write(path: string, text: string): string {
  writeFileSync(path, text);
  return path;
}

function remove(path: string): string {
  rmSync(path);
  return path;
}
