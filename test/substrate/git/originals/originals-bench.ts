import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MadeAnswer, MadeOrder } from '../../../../src/substrate/ports/made.ts';
import type { TaskFolder } from '../../../../src/substrate/ports/workspaces.ts';
import { createRepository } from '../../../support/git.ts';
import { createGitWorkspaces } from '../../../../src/substrate/git/git-workspaces.ts';
import { benchOver, portsIn, temporaryFolder, type GitBench } from '../bench.ts';
import type { Workspaces } from '../../../../src/substrate/ports/workspaces.ts';

const RUN = 'run';
const ORDER: MadeOrder = {
  key: 'a'.repeat(64),
  step: 'npm-ci',
  paths: ['node_modules', 'packages/*/node_modules'],
  isKept: true,
  isProven: true,
};

export interface OriginalsBench extends GitBench {
  /** How often the command ran. */
  readonly made: string[];
  /** Calls `reuseMade` with a command that makes a small node_modules. */
  reuse(folder: TaskFolder, order?: Partial<MadeOrder>, more?: (root: string) => void): Promise<MadeAnswer>;
  folder(task: string): Promise<TaskFolder>;
  /** As another engine, later. */
  again(): Workspaces;
}

const SPARES = { most: 0, from: 10, freeBytes: 0 };

export async function openOriginals(spares = SPARES): Promise<OriginalsBench> {
  const root = temporaryFolder();
  const files = {
    '.gitignore': 'node_modules\n',
    'package-lock.json': '{}\n',
    'packages/one/package.json': '{}\n',
    'packages/two/package.json': '{}\n',
  };
  createRepository(join(root, 'repository'), files);
  return openBenchAt(root, spares);
}

export async function openBenchAt(root: string, spares = SPARES): Promise<OriginalsBench> {
  const bench = await benchOver(root, join(root, 'repository'));
  const again = (): Workspaces => createGitWorkspaces({ ...portsIn(root), spares }, bench.report);
  const workspaces = again();
  await workspaces.createRunBranch(RUN, bench.report.head);
  const made: string[] = [];
  return {
    ...bench,
    workspaces,
    made,
    again,
    folder: async (task) => workspaces.addFolder({ run: RUN, task, commit: bench.report.head }),
    reuse: async (folder, order = {}, more) =>
      workspaces.reuseMade(folder, { ...ORDER, ...order }, async () => {
        made.push(folder.task);
        install(folder.workspace.path);
        more?.(folder.workspace.path);
        return true;
      }),
  };
}

/** As a package manager leaves it: files, programs, links to them and to a package of the repository. */
function install(root: string): void {
  for (const name of ['left-pad', '@org/ä']) {
    mkdirSync(join(root, 'node_modules', name, 'bin'), { recursive: true });
    writeFileSync(join(root, 'node_modules', name, 'index.js'), `module.exports = '${name}';\n`);
    writeFileSync(join(root, 'node_modules', name, 'bin/run'), '#!/usr/bin/env node\n', { mode: 0o755 });
  }
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  if (!existsSync(join(root, 'node_modules/.bin/run'))) {
    symlinkSync('../left-pad/bin/run', join(root, 'node_modules/.bin/run'));
    symlinkSync('../packages/one', join(root, 'node_modules/one'));
  }
  mkdirSync(join(root, 'packages/one/node_modules/x'), { recursive: true });
  writeFileSync(join(root, 'packages/one/node_modules/x/index.js'), 'x\n');
}

/** By `find`: kind, mode, links, size and target, and the contents of all that was made. */
export function madeIn(root: string): string {
  const places = ['node_modules', 'packages/one/node_modules'].filter((name) => existsSync(join(root, name)));
  const listed = execFileSync('find', [...places, '-printf', '%p %y %m %n %l\n'], { cwd: root }).toString();
  const script = 'find "$@" -type f -print0 | sort -z | xargs -0 sha256sum';
  const contents = execFileSync('/bin/sh', ['-c', script, 'sh', ...places], { cwd: root }).toString();
  // A folder's own number of links says how many are in it, and differs by file system.
  return [...listed.split('\n').toSorted(), contents].join('\n');
}

/** The states of the entries that are kept. */
export function kept({ stateDirectory }: Pick<GitBench, 'stateDirectory'>): readonly string[] {
  const pool = join(stateDirectory, 'work/.spare/made');
  return (existsSync(pool) ? readdirSync(pool) : []).map((name) => name.split('.')[1] ?? '').toSorted();
}

export async function tidyAll({ workspaces }: Pick<OriginalsBench, 'workspaces'>): Promise<void> {
  for (let steps = 0; await workspaces.tidySpares(); steps += 1) if (steps > 50) throw new Error('it does not end');
}
