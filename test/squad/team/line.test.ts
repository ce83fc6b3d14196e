import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bringToLine, type Line } from '../../../src/squad/team/line.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from '../../substrate/git/bench.ts';

afterEach(removeFolders);

interface Room {
  readonly root: string;
  readonly take: (commit: string) => Promise<Line>;
  readonly commit: (file: string, text: string) => string;
  readonly line: () => string;
}

function roomForLine(): Room {
  const folder = temporaryFolder();
  const root = createRepository(join(folder, 'repository'));
  const commit = (file: string, text: string): string => {
    writeFileSync(join(root, file), text);
    git(root, 'add', '-A');
    git(root, 'commit', '-q', '-m', `change ${file}`);
    return git(root, 'rev-parse', 'HEAD');
  };
  return {
    ...{ root, commit },
    take: async (id) => bringToLine(portsIn(folder), root, { branch: 'sprints', commit: id, message: 'take it' }),
    line: () => git(root, 'rev-parse', 'refs/heads/sprints'),
  };
}

describe('the line of work', () => {
  it('begins at the first commit, and moves forward with later ones', async () => {
    const { root, take, commit, line } = roomForLine();
    const first = git(root, 'rev-parse', 'HEAD');
    expect(await take(first)).toEqual({ head: first });
    const second = commit('a.txt', 'a');
    expect(await take(second)).toEqual({ head: second });
    expect(await take(first)).toEqual({ head: second });
    expect(line()).toBe(second);
    expect(git(root, 'status', '--porcelain')).toBe('');
  });

  it('merges what both sides have', async () => {
    const { root, take, commit, line } = roomForLine();
    const base = git(root, 'rev-parse', 'HEAD');
    await take(commit('a.txt', 'a'));
    git(root, 'reset', '-q', '--hard', base);
    const other = commit('b.txt', 'b');
    await take(other);
    expect(git(root, 'ls-tree', '--name-only', line()).split('\n')).toEqual(['a.txt', 'b.txt', 'readme.md']);
    expect(git(root, 'log', '-1', '--format=%s', line())).toBe('take it');
  });

  it.each([
    [
      'is in conflict',
      async ({ root, take, commit }: Room) => {
        const base = git(root, 'rev-parse', 'HEAD');
        await take(commit('a.txt', 'one'));
        git(root, 'reset', '-q', '--hard', base);
        return take(commit('a.txt', 'two'));
      },
      /sprints and \w{12} conflict in a\.txt: merge one into the other yourself/,
    ],
    [
      'is checked out elsewhere',
      async ({ root, take, commit }: Room) => {
        await take(git(root, 'rev-parse', 'HEAD'));
        git(root, 'worktree', 'add', '-q', join(root, '../other'), 'sprints');
        return take(commit('a.txt', 'one'));
      },
      /sprints is checked out in .*other: check out another one there/,
    ],
    [
      'has nothing in common with it',
      async ({ root, take, commit }: Room) => {
        await take(git(root, 'rev-parse', 'HEAD'));
        git(root, 'checkout', '-q', '--orphan', 'lone');
        return take(commit('a.txt', 'one'));
      },
      /no commit in common/,
    ],
  ])('stays where it is while it %s', async (_, play, wanted) => {
    const room = roomForLine();
    const before = async (): Promise<Line> => play(room);
    const answer = await before();
    expect('held' in answer && answer.held).toMatch(wanted);
    execFileSync('git', ['fsck', '--strict'], { cwd: room.root, stdio: 'ignore' });
  });
});
