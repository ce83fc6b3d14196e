import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { inspectRepository } from '../../src/substrate/git/inspect-repository.ts';
import type { FindCage } from '../../src/substrate/system/process/git-cage.ts';
import { NO_CAGE, openBench, removeFolders, type GitBench } from '../substrate/git/bench.ts';
import { git } from '../support/git.ts';
import { HOOKS, KEYS, poison } from './poison.ts';
import { ALL } from '../support/lane.ts';

afterEach(removeFolders);

describe.each<[string, FindCage | undefined]>([
  ['in the cage', undefined],
  ['without a cage', NO_CAGE],
])('S6: git with a poisoned repository, %s', (_, cage) => {
  let mark: (bench: GitBench) => string[];
  beforeAll(() => {
    mark = ({ root }) => readdirSync(root).filter((name) => name.startsWith('mark'));
  });

  it('S6: knows at least 20 ways in', () => {
    expect(KEYS.length + HOOKS.length).toBeGreaterThanOrEqual(20);
  });

  it(
    'S6: runs none of what is planted before a run, in any command of the engine, though plain git runs it',
    ALL,
    async () => {
      const files = { '.gitattributes': '* filter=evil diff=evil merge=evil\n', 'a.txt': 'one\n' };
      const bench = await openBench(files, undefined, cage);
      poison(bench);
      const { workspaces, repository, report } = bench;
      const base = report.head;
      await inspectRepository(bench.ports, repository);
      await workspaces.createRunBranch('r', base);
      const one = await workspaces.addFolder({ run: 'r', task: 'one', commit: base });
      const two = await workspaces.addFolder({ run: 'r', task: 'two', commit: base });
      // Agents plant the same in their own repositories.
      for (const { workspace } of [one, two]) poison({ root: bench.root, repository: workspace.path });
      // By the agent's hand, so with no filter, hook or signature of its own in the way: only the engine is looked at.
      const first = quietCommit(one.workspace.path, { 'a.txt': 'two\n' });
      const second = quietCommit(two.workspace.path, { 'a.txt': 'three\n', 'b.txt': 'b\n' });
      writeFileSync(join(one.workspace.path, 'c.txt'), 'left\n');
      const calls: Record<string, () => Promise<unknown>> = {
        snapshot: async () => workspaces.snapshot(one),
        rescue: async () => workspaces.rescue(one, 'one-1'),
        'rescue-clean': async () => workspaces.rescue(two, 'two-1'),
        'commits-between': async () => workspaces.commitsBetween(base, second),
        'changed-files': async () => workspaces.changedFiles(base, second),
        'diff-stat': async () => workspaces.diffStat(base, second),
        'merge-base': async () => workspaces.mergeBase(first, second),
        'is-file-at': async () => workspaces.isFileAt(second, 'b.txt'),
        'read-file-at': async () => workspaces.readFileAt(second, 'b.txt', 100),
        integrate: async () => workspaces.integrate({ run: 'r', commit: second, message: 'm' }),
        'integrate-conflict': async () => workspaces.integrate({ run: 'r', commit: first, message: 'm' }),
        move: async () => workspaces.moveFolder(two, first, 'two-1'),
        add: async () => workspaces.addFolder({ run: 'r', task: 'three', commit: second }),
        'add-again': async () => {
          writeFileSync(join(two.workspace.path, '.git/index.lock'), '');
          return workspaces.addFolder({ run: 'r', task: 'two', commit: base });
        },
        stand: async () => workspaces.standOn(two, base, 'staged'),
        reset: async () => workspaces.resetFolder(two, { commit: base, attempt: 'two-2', rescueAs: 'two-left' }),
        remove: async () => workspaces.removeFolder(one, 'one-2'),
        'integration-at': async () => workspaces.integrationAt('r', second),
        advance: async () => workspaces.advance('r', base, second),
      };
      for (const [name, call] of Object.entries(calls)) {
        await call();
        expect(mark(bench), name).toEqual([]);
      }
      expect(Object.keys(calls).length).toBeGreaterThanOrEqual(8);
      // What was planted does bite: without this the test could not fail.
      try {
        writeFileSync(join(repository, 'a.txt'), 'changed\n');
        git(repository, 'status');
        git(repository, 'add', 'a.txt');
      } catch {
        // A filter that breaks is one that ran.
      }
      expect(mark(bench).length).toBeGreaterThan(0);
      await workspaces.close();
    },
  );
});

/** With nothing that is configured. */
function quietCommit(path: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  const off = [
    'core.fsmonitor=false',
    'core.hooksPath=/dev/null',
    'filter.evil.clean=',
    'filter.evil.smudge=',
    'filter.evil.process=',
  ];
  const run = (...args: string[]) => git(path, ...off.flatMap((setting) => ['-c', setting]), ...args);
  run('add', '-A');
  run('commit', '-q', '-m', 'work');
  return run('rev-parse', 'HEAD');
}
