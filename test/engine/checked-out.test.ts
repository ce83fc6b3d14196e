// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { watchCheckout } from '../../src/engine/checked-out.ts';
import { git } from '../support/git.ts';
import { commitIn, openBench, removeFolders } from '../substrate/git/bench.ts';

afterEach(removeFolders);

/** A run branch with two pieces of work that can be delivered one after the other. */
async function openRun(resumed: boolean) {
  const bench = await openBench({ 'a.txt': 'a\n', 'mine.txt': 'mine\n' });
  const { workspaces, report, repository } = bench;
  const base = report.head;
  await workspaces.createRunBranch('run', base);
  const folder = await workspaces.addFolder({ run: 'run', task: 'task', commit: base });
  const first = commitIn(folder, { 'a.txt': 'first\n' });
  const second = commitIn(folder, { 'b.txt': 'second\n' });
  await workspaces.rescue(folder, 'task-1');
  const warnings: string[] = [];
  const watched = watchCheckout(workspaces, { run: 'run', resumed, warn: (text) => void warnings.push(text) });
  return { repository, base, first, second, warnings, watched };
}

describe('a run branch that is checked out', () => {
  it('is warned about once, and the named command keeps every file and change', async () => {
    const { repository, base, first, second, warnings, watched } = await openRun(false);
    git(repository, 'checkout', '-q', 'squad/run');
    writeFileSync(join(repository, 'mine.txt'), 'changed\n');
    await watched.advance('run', base, first);
    await watched.advance('run', first, second);
    await watched.close();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`squad/run is checked out in ${repository}.`);
    const command = /Run `([^`]+)`/.exec(warnings[0] ?? '')?.[1] ?? '';
    expect(spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' })).toMatchObject({ status: 0 });
    expect(git(repository, 'status', '--porcelain')).toBe('M mine.txt');
    expect(git(repository, 'rev-parse', 'HEAD')).toBe(base);
    git(repository, 'switch', '-q', 'squad/run');
    expect(git(repository, 'status', '--porcelain')).toBe('M mine.txt');
    expect(readFileSync(join(repository, 'b.txt'), 'utf8')).toBe('second\n');
  });

  it('is warned about as soon as the run is resumed', async () => {
    const { repository, base, warnings, watched } = await openRun(true);
    await watched.close();
    expect(warnings).toEqual([]);
    git(repository, 'checkout', '-q', 'squad/run');
    const again = watchCheckout(watched, { run: 'run', resumed: true, warn: (text) => void warnings.push(text) });
    await again.close();
    expect(warnings).toEqual([expect.stringContaining(`switch --detach ${base.slice(0, 12)}`)]);
  });

  it('is not a branch that no checkout has', async () => {
    const { base, first, warnings, watched } = await openRun(false);
    await watched.advance('run', base, first);
    await watched.close();
    expect(warnings).toEqual([]);
  });
});
