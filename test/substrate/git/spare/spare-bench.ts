import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createGitWorkspaces } from '../../../../src/substrate/git/git-workspaces.ts';
import type { TaskFolder, Workspaces } from '../../../../src/substrate/ports/workspaces.ts';
import { benchOver, portsIn, temporaryFolder, type GitBench } from '../bench.ts';
import { createRepository, git } from '../../../support/git.ts';

export const FILES = Object.fromEntries([
  ...Array.from({ length: 60 }, (_, index) => [
    `src/part-${index % 7}/file-${index}.ts`,
    `export const x = ${index};\n`,
  ]),
  ['.gitignore', 'dist\nnode_modules\n*.log\n'],
  ['run.sh', '#!/bin/sh\n'],
]);
export const RUN = 'run';

export interface SpareBench extends GitBench {
  readonly spare: Workspaces;
}

/** With one that is ready, and old enough for the times of its files to count. */
export async function openSpares(): Promise<SpareBench> {
  const root = temporaryFolder();
  const repository = createRepository(join(root, 'repository'), FILES);
  chmodSync(join(repository, 'run.sh'), 0o755);
  symlinkSync('run.sh', join(repository, 'link'));
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'modes and links');
  const bench = await benchOver(root, repository);
  const spare = createGitWorkspaces({ ...portsIn(root), spares: { most: 1, from: 10, freeBytes: 0 } }, bench.report);
  await spare.createRunBranch(RUN, bench.report.head);
  const opened = { ...bench, spare };
  await tidyAll(opened, bench.report.head);
  await settle();
  return opened;
}

/** A task's turn, and the removal of its folder once its work is kept. */
export async function playTask(
  { spare, report }: SpareBench,
  task: string,
  act: (folder: TaskFolder) => void,
): Promise<void> {
  const folder = await spare.addFolder({ run: RUN, task, commit: report.head });
  await settle();
  act(folder);
  const answer = await spare.removeFolder(folder, `${task}-1`);
  expect(answer).toMatchObject({ type: 'removed' });
}

export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 60));
}

export async function tidyAll({ spare }: SpareBench, commit?: string): Promise<void> {
  for (let steps = 0; await spare.tidySpares(commit); steps += 1) if (steps > 50) throw new Error('it does not end');
}

export function pool({ stateDirectory }: GitBench): readonly string[] {
  const folder = join(stateDirectory, 'work', '.spare');
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.flatMap((name) => name.split('.')[1] ?? []);
}

/** By `find`: kind, mode, owner, links, size and target of all that is there, without its git directory. */
function listing(folder: string): string {
  const format = '%P %y %m %U %G %n %l %s\n'.replace('%s', '');
  const found = execFileSync('find', [folder, '-path', join(folder, '.git'), '-prune', '-o', '-printf', format]);
  return found.toString().split('\n').toSorted().join('\n');
}

function contents(folder: string): string {
  const script = 'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum';
  return execFileSync('/bin/sh', ['-c', script], { cwd: folder }).toString();
}

const LIST_ATTRIBUTES = `import os,sys
for top, folders, files in os.walk(sys.argv[1]):
  for name in folders + files:
    path = os.path.join(top, name)
    if not os.path.islink(path) and os.listxattr(path): print(path)`;

/** What has attributes; nothing is found where there is no Python, and then no test can set any. */
export function attributed(folder: string): string {
  return spawnSync('python3', ['-c', LIST_ATTRIBUTES, folder], { encoding: 'utf8' }).stdout ?? '';
}

/** The next task's folder is what a new one would be. */
export async function expectFresh(bench: SpareBench, task: string, commit = bench.report.head): Promise<TaskFolder> {
  const used = await bench.spare.addFolder({ run: RUN, task, commit });
  const fresh = await bench.workspaces.addFolder({ run: 'other', task, commit });
  expect(listing(used.workspace.path)).toBe(listing(fresh.workspace.path));
  expect(contents(used.workspace.path)).toBe(contents(fresh.workspace.path));
  expect(git(used.workspace.path, 'status', '--porcelain', '--ignored')).toBe('');
  expect(attributed(used.workspace.path)).toBe('');
  return used;
}
