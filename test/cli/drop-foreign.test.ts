// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { git } from '../support/git.ts';

const BRANCH = 'squad/make-things';

it('squad drop keeps and names what a person had put on the run branch', { timeout: 120_000 }, async (test) => {
  const bench = openRunBench({ script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL] });
  test.onTestFinished(() => bench.end());
  const { repository, run } = bench;
  expect((await bench.runAll()).code).toBe(0);
  git(repository, 'switch', '--quiet', BRANCH);
  writeFileSync(join(repository, 'mine.txt'), 'mine\n');
  git(repository, 'add', 'mine.txt');
  git(repository, 'commit', '--quiet', '--message', 'A commit of mine');
  const mine = git(repository, 'rev-parse', 'HEAD');
  git(repository, 'switch', '--quiet', 'main');
  const earlier = git(repository, 'commit-tree', `${mine}^{tree}`, '-p', 'main', '-m', 'Put aside by a restore');
  const ref = `refs/squad/make-things/foreign-${earlier.slice(0, 12)}`;
  git(repository, 'update-ref', ref, earlier);

  for (const more of [[], ['--all']]) {
    const dropped = await run(['drop', ...more, '--yes']);
    expect(dropped.code, dropped.stderr).toBe(1);
    expect(dropped.stdout).toContain(
      `kept      branch ${BRANCH}: it has commits that the run did not deliver. To keep it under another name: git branch -m ${BRANCH} `,
    );
    expect(dropped.stdout).toContain(`${mine.slice(0, 12)} A commit of mine`);
    expect(git(repository, 'rev-parse', BRANCH)).toBe(mine);
  }
  expect((await run(['drop', '--all', '--yes'])).stdout).toContain(`kept      ${ref}`);
  expect((await run(['clean', '--refs'])).stdout).toContain(`kept      ${ref}`);
  expect(git(repository, 'rev-parse', ref)).toBe(earlier);

  // Elsewhere, nothing is lost with them.
  git(repository, 'merge', '--quiet', '--no-edit', BRANCH);
  git(repository, 'branch', 'kept-by-me', earlier);
  const dropped = await run(['drop', '--all', '--yes']);
  expect(dropped.code, dropped.stderr + dropped.stdout).toBe(0);
  expect(git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad', 'refs/heads/squad')).toBe('');
});
