import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { beginAt, remoteOf } from '../../../src/substrate/git/begin-at.ts';
import { openRepository } from '../../../src/substrate/git/repository.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, refusalOf, removeFolders, temporaryFolder } from './bench.ts';

afterEach(removeFolders);

/** `clone` of `origin`, whose `main` has `first` and `second`, and whose `side` has one more; the clone's HEAD is at `first`. */
function openClone(depth: readonly string[] = []) {
  const root = temporaryFolder();
  const origin = createRepository(join(root, 'origin'));
  const first = git(origin, 'rev-parse', 'HEAD');
  git(origin, 'tag', 'v1');
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(origin, 'branch', 'main-2');
  git(origin, 'checkout', '-q', '-b', 'side/one');
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'third');
  git(origin, 'checkout', '-q', 'main');
  execFileSync('git', ['clone', '-q', ...depth, `file://${origin}`, join(root, 'clone')]);
  const clone = join(root, 'clone');
  git(clone, 'checkout', '-q', '-b', 'topic');
  return { ports: portsIn(root), origin, clone, first };
}

describe('where a run begins', () => {
  it.each([
    ['origin/side/one', 'refs/remotes/origin/side/one', 'side/one'],
    ['main', 'refs/heads/main', 'main'],
    ['v1', 'refs/tags/v1', 'topic'],
    ['HEAD~1', 'HEAD~1', 'topic'],
    ['HEAD', 'HEAD', 'topic'],
    ['origin', 'refs/remotes/origin/HEAD', 'main'],
  ])('%s is a commit, and the branch that gets the work', async (from, ref, branch) => {
    const { ports, clone } = openClone();
    const found = await beginAt(ports, await openRepository(ports, clone), { from, remotes: ['origin'] });
    expect(found).toEqual({ from, head: git(clone, 'rev-parse', ref), branch });
  });

  it.each([
    ['nothing', /no branch, tag or commit has that name here\n.*git branch -a.*--fetch/],
    ['side/one', /has that name here\n.*--base origin\/side\/one/],
    ['HEAD^{tree}', /is not a commit\n/],
    ['--all', /--base --all: no branch/],
    ['a..b', /no branch, tag or commit/],
    ['\u001b[2J', /no branch/],
    [' ', /--base is empty\n/],
  ])('%j is refused with the next command', async (from, expected) => {
    const { ports, clone } = openClone();
    const opened = await openRepository(ports, clone);
    const refusal = await refusalOf(beginAt(ports, opened, { from, remotes: ['origin'] }));
    expect(`${refusal.message}\n${refusal.next}`).toMatch(expected);
    expect(refusal.message).not.toContain('\u001b');
  });

  it('says that a clone is shallow where the commit is not in it', async () => {
    const { ports, clone, first } = openClone(['--depth=1']);
    const opened = await openRepository(ports, clone);
    const refusal = await refusalOf(beginAt(ports, opened, { from: first, remotes: ['origin'] }));
    expect(refusal).toMatchObject({
      message: expect.stringContaining('the clone is shallow'),
      next: expect.stringContaining('git fetch --unshallow'),
    });
  });

  it.each([
    ['origin/main', 'origin'],
    ['refs/remotes/origin/main', 'origin'],
    ['up/stream/main', 'up/stream'],
    ['up/main', 'up'],
    ['main', undefined],
    ['originally/main', undefined],
  ])('%s is fetched from %s', (from, remote) => {
    expect(remoteOf(from, ['up', 'origin', 'up/stream'])).toBe(remote);
  });
});
