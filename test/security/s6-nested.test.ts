// @module-tag all
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FindCage } from '../../src/substrate/system/process/git-cage.ts';
import type { TaskFolder } from '../../src/substrate/ports/workspaces.ts';
import { NO_CAGE, openBench, removeFolders, type GitBench } from '../substrate/git/bench.ts';
import { some, SPREAD } from '../support/lane.ts';
import { poison } from './poison.ts';

afterEach(removeFolders);

/** A repository whose file has another time than its index says, and the size that it says: git asks its filter. */
const MAKE = `make() { git init -q -b main "$1"; echo x >"$1/f.txt"; echo x >"$1/f.plain"; git -C "$1" add f.txt f.plain
  git -C "$1" -c user.name=a -c user.email=a@a.invalid commit -qm nested
  printf '* filter=evil diff=evil merge=evil\\n*.plain filter=plain\\n' >"$1/.gitattributes"; touch -d 2030-01-01 "$1"/f.*; }
`;

/** How a repository can lie in a folder: a shell line, the repositories that it makes, and what follows once they are poisoned. */
const PLACES: readonly (readonly [string, { made: string; repositories: readonly string[]; after?: string }])[] = [
  ['a repository', { made: 'make n', repositories: ['n'] }],
  [
    'two levels deep, one in the other',
    { made: 'mkdir -p a/b; make a/b/n; make a/b/n/m', repositories: ['a/b/n', 'a/b/n/m'] },
  ],
  [
    'a repository by a `.git` file',
    { made: 'make n', repositories: ['n'], after: 'mv n/.git ./real; echo "gitdir: ../real" >n/.git' },
  ],
  [
    'a repository whose `.git` file names a place outside',
    {
      made: 'make ../outside',
      repositories: ['../outside'],
      after: 'mkdir n; echo "gitdir: $PWD/../outside/.git" >n/.git',
    },
  ],
  [
    'a repository whose `.git` is a link',
    { made: 'make ../outside', repositories: ['../outside'], after: 'mkdir n; ln -s "$PWD/../outside/.git" n/.git' },
  ],
  ['a link to a repository', { made: 'make ../outside', repositories: ['../outside'], after: 'ln -s ../outside n' }],
  [
    'a worktree of the folder’s own repository',
    { made: 'git worktree add -q n', repositories: [], after: 'touch -d 2030-01-01 n/*' },
  ],
  ['a repository in a folder of the commit', { made: 'make src', repositories: ['src'] }],
  [
    'a submodule that names programs',
    {
      made: 'make n',
      repositories: ['n'],
      after: `git config -f .gitmodules submodule.n.path n; git config -f .gitmodules submodule.n.url ./n
        git config -f .gitmodules submodule.n.update '!touch $ROOT/mark-update'; git config submodule.n.active true`,
    },
  ],
];

/** Then it is in the commit of the task, or it is not. */
const ENDS = [
  ['committed', 'git add -A; git commit --allow-empty -qm nested'],
  ['left', 'true'],
] as const;

const CASES = PLACES.flatMap(([place, how]) => ENDS.map(([end, line]) => [place, end, how, line] as const));

describe.each<[string, FindCage | undefined]>([
  ['in the cage', undefined],
  ['without a cage', NO_CAGE],
])('S6: a repository inside a task’s folder, %s', { timeout: 120_000 }, (_, cage) => {
  it.each(some(CASES, 0, 2))('S6: %s, %s: nothing of it runs', SPREAD, async (_place, _end, how, line) => {
    const bench = await openBench({ 'a.txt': 'one\n', 'src/b.txt': 'b\n' }, undefined, cage);
    const { workspaces, report } = bench;
    await workspaces.createRunBranch('r', report.head);
    const folder = await workspaces.addFolder({ run: 'r', task: 'one', commit: report.head });
    plant(bench, folder.workspace.path, how, line);
    await askEverything(bench, folder);
    await workspaces.close();
  });

  it('S6: what is planted does run for a git that looks for repositories, or else this could not fail', async () => {
    const bench = await openBench({ 'a.txt': 'one\n' }, undefined, cage);
    const { workspaces, report } = bench;
    const { workspace } = await workspaces.addFolder({ run: 'r', task: 'one', commit: report.head });
    plant(bench, workspace.path, { made: 'make n', repositories: ['n'] }, 'git add -A; git commit -qm nested');
    expect(marks(bench)).toEqual([]);
    shell(bench, workspace.path, 'touch -d 2031-01-01 n/f.*; git add -A; true');
    expect(marks(bench)).not.toEqual([]);
    await workspaces.close();
  });
});

function plant(
  bench: GitBench,
  path: string,
  { made, repositories, after = 'true' }: { made: string; repositories: readonly string[]; after?: string },
  line: string,
): void {
  shell(bench, path, `${MAKE}${made}`);
  if (line !== 'true') shell(bench, path, line);
  for (const name of repositories) poison({ root: bench.root, repository: join(path, name) });
  shell(bench, path, after);
  for (const mark of marks(bench)) rmSync(join(bench.root, mark));
}

/** Everything that the engine does with a folder, up to its end. */
async function askEverything(bench: GitBench, folder: TaskFolder): Promise<void> {
  const { workspaces, report } = bench;
  const base = report.head;
  const quiet = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    // Some refuse such a folder, by a sentence: only what ran on the way is looked at.
    const answer: unknown = await work().catch((error: unknown) => error);
    if (answer instanceof Error) expect(answer.constructor.name, `${name}: ${answer.message}`).toBe('SquadError');
    expect(marks(bench), name).toEqual([]);
    expect(marksIn(folder.workspace.path), name).toEqual([]);
  };
  await quiet('snapshot', async () => workspaces.snapshot(folder));
  let commit = base;
  await quiet('rescue', async () => {
    const kept = await workspaces.rescue(folder, 'one-1');
    if (kept.type === 'kept') commit = kept.commit;
    else expect(kept.reason).toMatch(/\.git/);
  });
  await quiet('look', async () => workspaces.changedFiles(base, commit));
  await quiet('integrate', async () => workspaces.integrate({ run: 'r', commit, message: 'm' }));
  await quiet('integration', async () => workspaces.integrationAt('r', commit));
  await quiet('stand', async () => workspaces.standOn(folder, base, 'staged'));
  await quiet('again', async () => workspaces.addFolder({ run: 'r', task: 'one', commit: base }));
  await quiet('move', async () => workspaces.moveFolder(folder, base, 'one-2'));
  await quiet('reset', async () =>
    workspaces.resetFolder(folder, { commit: base, attempt: 'one-3', rescueAs: 'left' }),
  );
  await quiet('remove', async () => workspaces.removeFolder(folder, 'one-4'));
  await quiet('clean', async () => workspaces.closeRun('r'));
  await quiet('drop', async () => workspaces.dropRefs('r', [], 'id'));
}

function shell({ root }: GitBench, cwd: string, line: string): void {
  const env = { PATH: process.env['PATH'], HOME: root, ROOT: root, GIT_CONFIG_NOSYSTEM: '1' };
  const named = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@a.invalid',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a',
  };
  execFileSync('/bin/sh', ['-c', line], { cwd, env: { ...env, ...named }, stdio: 'ignore' });
}

function marks({ root }: Pick<GitBench, 'root'>): readonly string[] {
  return readdirSync(root).filter((name) => name.startsWith('mark-'));
}

/** A program leaves its mark in the folder that it runs in, too: a cage may keep it from the other place. */
function marksIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /(?:^|\/)mark-/.test(name));
}
