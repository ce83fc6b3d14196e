import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { armFailpoints } from '../../../src/substrate/system/failpoint.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import { benchOver, commitIn, type GitBench } from './bench.ts';
import { git } from '../../support/git.ts';

export const ENGINE_CHILD = fileURLToPath(import.meta.url);

/** What one run does to a repository, told so that it can be begun again after a crash anywhere in it. */
export async function playRun(bench: GitBench, run = 'run'): Promise<void> {
  const { workspaces, report } = bench;
  await workspaces.createRunBranch(run, report.head);
  while (await workspaces.tidySpares(report.head)) continue;
  for (const task of ['one', 'two']) {
    const done = git(bench.repository, 'for-each-ref', '--format=%(objectname)', `refs/squad/${run}/${task}-1`);
    const folder = await workspaces.addFolder({ run, task, commit: report.head });
    if (done === '') {
      const had = git(folder.workspace.path, 'rev-parse', 'HEAD') !== report.head;
      if (!had) commitIn(folder, { [`${task}.txt`]: `${task}\n` }, task);
      writeFileSync(join(folder.workspace.path, 'draft.txt'), 'draft\n');
    }
    const kept = done === '' ? await workspaces.rescue(folder, `${task}-1`) : { type: 'kept', commit: done };
    if (kept.type !== 'kept' || !('commit' in kept)) throw new Error(`not kept: ${kept.type}`);
    const answer = await workspaces.integrate({ run, commit: kept.commit, message: task });
    if (answer.type === 'candidate') {
      // As a run with verify commands does.
      await workspaces.integrationAt(run, answer.commit);
      const moved = await workspaces.advance(run, answer.onto, answer.commit);
      if (moved.type !== 'advanced') throw new Error(moved.type);
    } else if (answer.type !== 'empty') throw new Error(JSON.stringify(answer));
    const removed = await workspaces.removeFolder(folder, `${task}-1`);
    if (removed.type !== 'removed') throw new Error(JSON.stringify(removed));
    while (await workspaces.tidySpares()) continue;
  }
  await workspaces.closeRun(run);
}

/** The same, with so many folders that are used again. */
export function withSpares(bench: GitBench, most: number): GitBench {
  const { ports, report } = bench;
  return { ...bench, workspaces: createGitWorkspaces({ ...ports, spares: { most, from: 10, freeBytes: 0 } }, report) };
}

async function main(): Promise<void> {
  const [, , root = '', repository = '', failpoints = '', binary, run] = process.argv;
  const bench = await benchOver(root, repository, binary);
  armFailpoints(failpoints);
  const { SQUAD_TEST_SPARES: spares } = process.env;
  await playRun(spares === undefined ? bench : withSpares(bench, Number(spares)), run);
}

if (process.argv[1] === ENGINE_CHILD) await main();
