// @module-tag all
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findCommits } from '../../../src/substrate/git/find-commits.ts';
import { findRunBranch } from '../../../src/substrate/git/squad-refs.ts';
import { hasWork } from '../../../src/substrate/git/has-work.ts';
import { placeOfWork } from '../../../src/substrate/git/place-of-work.ts';
import { findCommit } from '../../../src/substrate/git/show-diff.ts';
import { findSquadRefs } from '../../../src/substrate/git/squad-refs.ts';
import { git } from '../../support/git.ts';
import { some, SPREAD } from '../../support/lane.ts';
import { benchOver, commitIn, openBench, portsIn, refusalOf, removeFolders, type GitBench } from './bench.ts';

afterEach(removeFolders);

/** A bench with a run that has delivered one commit, and what the look-ups are about. */
interface Looked {
  readonly bench: GitBench;
  readonly base: string;
  readonly head: string;
}

type Look = (looked: Looked) => Promise<unknown>;

/** Answers “there is none”, “it is none” or “nothing is left” about a repository. */
const LOOKS: Readonly<Record<string, Look>> = {
  runHead: async ({ bench }) => bench.workspaces.runHead('run'),
  'runHead of no run': async ({ bench }) => bench.workspaces.runHead('none'),
  checkoutOf: async ({ bench }) => bench.workspaces.checkoutOf('run'),
  integrate: async ({ bench, head }) => bench.workspaces.integrate({ run: 'run', commit: head, message: 'm' }),
  advance: async ({ bench, base, head }) => bench.workspaces.advance('run', base, head),
  createRunBranch: async ({ bench, base }) => bench.workspaces.createRunBranch('run', base),
  dropBranch: async ({ bench, base }) => bench.workspaces.dropBranch('run', base),
  dropRefs: async ({ bench }) => bench.workspaces.dropRefs('run', [], 'id'),
  snapshot: async ({ bench }) => bench.workspaces.snapshot({ run: 'run', task: 'task' }),
  keepCommits: async ({ bench }) => bench.workspaces.keepCommits({ run: 'run', task: 'task' }, 'task-2'),
  removeFolder: async ({ bench }) => bench.workspaces.removeFolder({ run: 'run', task: 'task' }, 'task-2'),
  listFolders: async ({ bench }) => bench.workspaces.listFolders('run'),
  commitsBetween: async ({ bench, base, head }) => bench.workspaces.commitsBetween(base, head),
  mergeBase: async ({ bench, base, head }) => bench.workspaces.mergeBase(base, head),
  isAncestor: async ({ bench, base, head }) => bench.workspaces.isAncestor(head, base),
  isFileAt: async ({ bench, head }) => bench.workspaces.isFileAt(head, 'none.txt'),
  readFileAt: async ({ bench, head }) => bench.workspaces.readFileAt(head, 'none.txt', 9),
  findCommit: async ({ bench }) => findCommit(bench.ports, bench.report, 'none'),
  findCommits: async ({ bench, head }) => findCommits(bench.ports, bench.report, [head]),
  findRunBranch: async ({ bench }) => findRunBranch(bench.ports, bench.report, 'run'),
  findSquadRefs: async ({ bench }) => findSquadRefs(bench.ports, bench.report, []),
  hasWork: async ({ bench, base, head }) => hasWork(bench.ports, bench.report, { commit: base, of: head }),
  placeOfWork: async ({ bench, base, head }) =>
    placeOfWork(bench.ports, bench.report, { run: 'run', base, delivered: head }),
};

async function lookedBench(binary?: (root: string) => string): Promise<Looked> {
  const bench = await openBench();
  const { root, repository, report, workspaces } = bench;
  await workspaces.createRunBranch('run', report.head);
  const folder = await workspaces.addFolder({ run: 'run', task: 'task', commit: report.head });
  const head = commitIn(folder, { 'a.txt': 'a\n' });
  await workspaces.keepCommits(folder, 'task-1');
  await workspaces.close();
  const again = await benchOver(root, repository, binary?.(root));
  return { bench: again, base: report.head, head };
}

/** A git that moves the repository before its next command, once a file allows it. */
function movingGit(root: string): string {
  const path = join(root, 'moving-git');
  const repository = join(root, 'repository');
  const text = `#!/bin/sh
if [ -e '${root}/now' ] && [ -e '${repository}' ]; then mv '${repository}' '${repository}-moved'; fi
exec /usr/bin/git "$@"
`;
  writeFileSync(path, text, { mode: 0o755 });
  return path;
}

describe('a look-up in a repository that is moved', () => {
  it.each(some(Object.entries(LOOKS), 0, 6))('%s: before it, nothing is concluded', SPREAD, async (_, look) => {
    const looked = await lookedBench();
    const { repository } = looked.bench;
    renameSync(repository, `${repository}-moved`);
    expect(await refusalOf(look(looked))).toMatchObject({ code: 'storage-refused' });
    renameSync(`${repository}-moved`, repository);
    await expect(look(looked)).resolves.not.toThrow();
  });

  it.each(some(Object.entries(LOOKS), 0, 6))(
    '%s: in the middle of it, nothing is concluded',
    SPREAD,
    async (_, look) => {
      const looked = await lookedBench(movingGit);
      const { root, repository } = looked.bench;
      writeFileSync(join(root, 'now'), '');
      const ended = await look(looked).catch((error: unknown) => error);
      // A look-up that asks no git is over before.
      if (ended instanceof Error) expect(ended).toMatchObject({ code: 'storage-refused' });
      else expect(git(repository, 'rev-parse', 'HEAD')).toBe(looked.base);
    },
  );

  it('an empty folder that a git left at the old place is no repository', async () => {
    const looked = await lookedBench();
    const { root, repository, ports } = { ...looked.bench, ports: portsIn(looked.bench.root) };
    renameSync(repository, `${repository}-moved`);
    git(root, 'init', '--quiet', '--bare', join(repository, '.git'));
    for (const name of ['HEAD', 'config', 'objects']) renameSync(join(repository, '.git', name), join(root, name));
    expect(await refusalOf(findCommit(ports, looked.bench.report, 'HEAD'))).toMatchObject({ code: 'storage-refused' });
  });
});

it('a moved state folder is not made again at its old place', async () => {
  const { bench } = await lookedBench();
  const { root, workspaces } = bench;
  renameSync(join(root, 'state'), join(root, 'state-moved'));
  expect(await refusalOf(workspaces.runHead('run'))).toMatchObject({ code: 'storage-refused' });
});
