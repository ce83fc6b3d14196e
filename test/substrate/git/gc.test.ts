// @module-tag all
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { cleanRun } from '../../../src/cli/clean-run.ts';
import { createGitWorkspaces } from '../../../src/substrate/git/git-workspaces.ts';
import type { Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { spread, SPREAD } from '../../support/lane.ts';
import { git } from '../../support/git.ts';
import { commitIn, findFaults, openBench, removeFolders, type GitBench } from './bench.ts';
import { playRun } from './engine-child.ts';

afterEach(removeFolders);

const MOMENTS = spread(4, 20);

/** The user's repository, cleaned of everything that no ref reaches. */
function collect({ repository }: GitBench): void {
  git(repository, 'reflog', 'expire', '--expire=now', '--all');
  git(repository, 'gc', '-q', '--prune=now');
}

/** A whole run that calls back before each step of the engine: before each call of its port, and before each git process. */
async function playWatched(bench: GitBench, before: () => void): Promise<void> {
  const { processes } = bench.ports;
  const ports: GitBench['ports'] = {
    ...bench.ports,
    processes: {
      ...processes,
      run: async (...call) => {
        before();
        return processes.run(...call);
      },
    },
  };
  const workspaces = createGitWorkspaces(ports, bench.report);
  const entries = Object.entries(workspaces).map(([name, method]: [string, (...args: never[]) => unknown]) => [
    name,
    (...args: never[]) => {
      before();
      return method(...args);
    },
  ]);
  await playRun({ ...bench, workspaces: Object.fromEntries(entries) as Workspaces });
  await workspaces.close();
}

it(
  `\`git gc --prune=now\` in the user's repository at ${MOMENTS} moments of a run loses nothing`,
  { ...SPREAD, timeout: 300_000 },
  async () => {
    let steps = 0;
    await playWatched(await openBench({ 'a.txt': 'a\n' }), () => void (steps += 1));
    expect(steps).toBeGreaterThan(20);
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const at = Math.floor((moment * steps) / MOMENTS);
      const bench = await openBench({ 'a.txt': 'a\n' });
      let step = 0;
      await playWatched(bench, () => {
        if (step === at) collect(bench);
        step += 1;
      });
      expect(step).toBeGreaterThan(at);
      collect(bench);
      expect(findFaults(bench), `at ${at}`).toEqual([]);
      for (const task of ['one', 'two']) {
        expect(git(bench.repository, 'show', `squad/run:${task}.txt`)).toBe(task);
        expect(git(bench.repository, 'show', `refs/squad/run/${task}-1:draft.txt`)).toBe('draft');
      }
    }
  },
);

it('the user’s branch may move on and be collected while an agent works on where it was', async () => {
  const bench = await openBench({ 'a.txt': 'a\n' });
  const { workspaces, repository, report } = bench;
  await workspaces.createRunBranch('run', report.head);
  const folder = await workspaces.addFolder({ run: 'run', task: 'one', commit: report.head });
  // The base is on no branch of the user's any more, and somebody deleted the run branch.
  git(repository, 'checkout', '-q', '--orphan', 'other');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'other');
  git(repository, 'branch', '-D', 'main');
  git(repository, 'update-ref', '-d', 'refs/heads/squad/run');
  collect(bench);
  writeFileSync(join(folder.workspace.path, 'draft.txt'), 'draft\n');
  const next = createGitWorkspaces(bench.ports, report);
  expect(await next.rescue(folder, 'one-1')).toMatchObject({ type: 'kept', head: report.head });
  collect(bench);
  expect(git(repository, 'show', 'refs/squad/run/one-1:a.txt')).toBe('a');
  expect(await next.removeFolder(folder, 'one-1')).toMatchObject({ type: 'removed' });
  await cleanRun(
    next,
    bench.root,
    { run: 'run', id: 'run', attempts: [] },
    { dryRun: false, turns: false, refs: true },
  );
  expect(git(repository, 'for-each-ref', 'refs/squad')).toBe('');
  await next.close();
});

it('work is taken although a ref of the run was deleted and collected, or cut short', async () => {
  const bench = await openBench({ 'a.txt': 'a\n' });
  const { workspaces, repository, report } = bench;
  await workspaces.createRunBranch('run', report.head);
  const folder = await workspaces.addFolder({ run: 'run', task: 'one', commit: report.head });
  // Work of the user's own, which only the run's ref keeps.
  const foreign = git(repository, 'commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'foreign');
  await workspaces.keepAttempt('run', 'foreign-1', foreign);
  git(repository, 'update-ref', '-d', 'refs/squad/run/foreign-1');
  collect(bench);
  const first = commitIn(folder, { 'b.txt': 'b\n' });
  expect(await workspaces.rescue(folder, 'one-1')).toMatchObject({ type: 'kept', commit: first });
  writeFileSync(join(bench.ports.runsDirectory, 'run/.squad/run.git/refs/squad/run/cut-short'), '');
  const second = commitIn(folder, { 'c.txt': 'c\n' });
  expect(await workspaces.rescue(folder, 'one-1')).toMatchObject({ type: 'kept', commit: second });
  await workspaces.close();
});
