import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { gatherBranch } from '../../../src/squad/team/gather-branch.ts';
import { createRepository, git } from '../../support/git.ts';
import { portsIn, removeFolders, temporaryFolder } from '../../substrate/git/bench.ts';

afterEach(removeFolders);

it('finds the commits of a branch with their paths, and the newest documents of its planner', async () => {
  const folder = temporaryFolder();
  const root = createRepository(join(folder, 'repository'));
  const base = git(root, 'rev-parse', 'HEAD');
  const commit = (subject: string, files: Record<string, string>): string => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    git(root, 'add', '-A');
    git(root, 'commit', '-q', '-m', `${subject}\n\nthe body`);
    return git(root, 'rev-parse', 'HEAD');
  };
  git(root, 'switch', '-q', '-c', 'squad/x');
  const first = commit('Plan it: “ü”', { 'docs/squad/x/plan.md': 'one\n', 'docs/squad/x/spec.md': 'spec\n' });
  const second = commit('Change it', { 'src/a b\n.ts': 'a', 'docs/squad/x/plan.md': 'two\n' });
  git(root, 'rm', '-q', 'docs/squad/x/spec.md');
  git(root, 'commit', '-q', '-m', 'Drop it');
  const third = git(root, 'rev-parse', 'HEAD');
  const repository = { root, commonDirectory: join(root, '.git') };
  const found = await gatherBranch(portsIn(folder), repository, { branch: 'squad/x', base });
  expect(found.commits).toEqual([
    { commit: first, subject: 'Plan it: “ü”', paths: ['docs/squad/x/plan.md', 'docs/squad/x/spec.md'] },
    { commit: second, subject: 'Change it', paths: ['docs/squad/x/plan.md', 'src/a b\n.ts'] },
    { commit: third, subject: 'Drop it', paths: ['docs/squad/x/spec.md'] },
  ]);
  expect(found.documents).toEqual({ plan: { path: 'docs/squad/x/plan.md', commit: third, text: 'two\n' } });

  const at = await gatherBranch(portsIn(folder), repository, { branch: 'squad/gone', head: first, base });
  expect(at.commits).toHaveLength(1);
  expect(await gatherBranch(portsIn(folder), repository, { branch: 'squad/gone', base })).toEqual({ documents: {} });
  const unknown = { branch: 'squad/x', base: '0'.repeat(40) };
  expect(await gatherBranch(portsIn(folder), repository, unknown)).toEqual({ documents: {} });
});
