import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { mergeIntoCheckout } from '../../../src/substrate/git/merge-checkout.ts';
import { findBranch, mergeIntoBranch } from '../../../src/substrate/git/merge-into-branch.ts';
import type { MergeAnswer } from '../../../src/substrate/git/merge-order.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from './bench.ts';
import { MERGE_CHILD } from './merge-child.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

const INTO = 'team/release';

interface Arranged {
  readonly root: string;
  readonly path: string;
  readonly commit: string;
}

/** Two commits of work on `work`, a branch that gets them, and a checkout of main with changes of a person. */
function arrange(moved?: 'apart' | 'in the same lines'): Arranged {
  const root = temporaryFolder();
  const path = createRepository(join(root, 'repository'), { 'a.txt': 'one\n', 'b.txt': 'b\n' });
  const commit = (file: string, text: string): string => {
    writeFileSync(join(path, file), text);
    git(path, 'add', '-A');
    git(path, 'commit', '-q', '-m', `${file} ${text.trim()}`);
    return git(path, 'rev-parse', 'HEAD');
  };
  for (const branch of [INTO, `${INTO}-2`]) git(path, 'branch', branch);
  git(path, 'switch', '-q', '-c', 'work');
  commit('a.txt', 'two\n');
  const work = commit('new.txt', 'new\n');
  if (moved !== undefined) {
    git(path, 'switch', '-q', INTO);
    commit(moved === 'apart' ? 'here.txt' : 'a.txt', 'here\n');
  }
  git(path, 'switch', '-q', 'main');
  writeFileSync(join(path, 'a.txt'), 'mine\n');
  writeFileSync(join(path, 'new.txt'), 'mine too\n');
  return { root, path, commit: work };
}

async function into({ root, path, commit }: Arranged, squash = false, at?: string): Promise<MergeAnswer> {
  const ports = portsIn(root);
  const repository = await openRepository(ports, path);
  const found = await findBranch(ports, repository, INTO);
  if (found === undefined) throw new Error('no branch');
  const order = { run: 'work', commit, message: 'All of it', squash };
  return mergeIntoBranch(ports, repository, { branch: INTO, head: at ?? found.head }, order);
}

/** What no merge into another branch may touch. */
function checkoutOf(path: string): object {
  const others = git(path, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n');
  return {
    status: git(path, 'status', '--porcelain'),
    index: git(path, 'ls-files', '--stage', '--debug'),
    head: git(path, 'symbolic-ref', 'HEAD'),
    refs: others.filter((line) => !line.startsWith(`refs/heads/${INTO} `)),
  };
}

describe('a merge into a branch that is not checked out', () => {
  it.each([
    [undefined, false, 'fast-forward', 1],
    [undefined, true, 'squash', 1],
    ['apart', false, 'merge', 2],
    ['apart', true, 'squash', 1],
  ] as const)('moves only that branch, once (moved: %s, squash: %s): %s', ALL, async (moved, squash, how, parents) => {
    const arranged = arrange(moved);
    const { path, commit } = arranged;
    const [before, at] = [checkoutOf(path), git(path, 'rev-parse', INTO)];
    expect(await into(arranged, squash)).toEqual({
      type: 'merged',
      how,
      from: at,
      commit: git(path, 'rev-parse', INTO),
    });
    expect(checkoutOf(path)).toEqual(before);
    expect(git(path, 'diff', '--stat', INTO, commit, '--', 'a.txt', 'b.txt', 'new.txt')).toBe('');
    const own = git(path, 'log', '-1', '--format=%P', INTO).split(' ');
    expect(own).toHaveLength(parents);
    if (how !== 'fast-forward') expect(own[0]).toBe(at);
    expect(git(path, 'reflog', '-1', '--format=%gs', INTO)).toBe('squad merge');
    expect(git(path, 'fsck', '--strict')).toBe('');
    expect(await into(arranged, squash)).toEqual({ type: 'already' });
    expect(await into(arranged, true)).toEqual({ type: 'already' });
  });

  it.each([false, true])('changes nothing where both changed the same lines (squash: %s)', async (squash) => {
    const arranged = arrange('in the same lines');
    const [before, at] = [checkoutOf(arranged.path), git(arranged.path, 'rev-parse', INTO)];
    expect(await into(arranged, squash)).toEqual({ type: 'conflict', files: ['a.txt'] });
    expect([checkoutOf(arranged.path), git(arranged.path, 'rev-parse', INTO)]).toEqual([before, at]);
  });

  it('changes nothing if the branch has moved meanwhile', async () => {
    const arranged = arrange('apart');
    const at = git(arranged.path, 'rev-parse', INTO);
    expect(await into(arranged, false, git(arranged.path, 'rev-parse', 'main'))).toEqual({ type: 'moved' });
    expect(git(arranged.path, 'rev-parse', INTO)).toBe(at);
  });

  it('that is killed has changed nothing, and the same call finishes it', ALL, async () => {
    const arranged = arrange('apart');
    const { root, path, commit } = arranged;
    const [before, at] = [checkoutOf(path), git(path, 'rev-parse', INTO)];
    const killed = spawnSync(process.execPath, [MERGE_CHILD, root, path, commit, 'merge.ready=kill', INTO], {
      env: { PATH: process.env['PATH'] },
      encoding: 'utf8',
    });
    expect(killed.signal, killed.stderr).toBe('SIGKILL');
    expect([checkoutOf(path), git(path, 'rev-parse', INTO)]).toEqual([before, at]);
    expect(await into(arranged)).toMatchObject({ type: 'merged', how: 'merge', from: at });
    expect(checkoutOf(path)).toEqual(before);
  });

  it.each(['no/such', 'team', `${INTO}~1`, '*', 'HEAD', ''])('finds only branches: %j is none', async (name) => {
    const { root, path } = arrange();
    const ports = portsIn(root);
    expect(await findBranch(ports, await openRepository(ports, path), name)).toBeUndefined();
  });
});

describe('a squash into the branch that is checked out', () => {
  it.each([undefined, 'apart'] as const)('adds one commit with all of it, once (moved: %s)', ALL, async (moved) => {
    const { root, path, commit } = arrange(moved);
    git(path, 'stash', '-q', '-u');
    git(path, 'switch', '-q', INTO);
    const at = git(path, 'rev-parse', 'HEAD');
    const merge = async (): Promise<MergeAnswer> => {
      const ports = portsIn(root);
      const { branch = '', ...checkout } = await openRepository(ports, path);
      const order = { run: 'work', commit, message: 'All of it', squash: true };
      return mergeIntoCheckout(ports, { ...checkout, branch }, order);
    };
    expect(await merge()).toMatchObject({ type: 'merged', how: 'squash', from: at });
    expect(git(path, 'log', '-1', '--format=%P|%s|%an')).toBe(`${at}|All of it|Test`);
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(git(path, 'diff', '--stat', 'HEAD', commit, '--', 'a.txt', 'new.txt')).toBe('');
    expect(await merge()).toEqual({ type: 'already' });
  });
});
