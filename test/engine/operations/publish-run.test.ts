import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import { plainJson } from '../../../src/text/json.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import { publishWork } from '../../../src/engine/sinks/sinks.ts';
import { allocateWorkspace } from '../../../src/engine/operations/publish-run.ts';
import { pushRun } from '../../../src/engine/operations/publish-run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { openChecksBench } from '../checks/checks-bench.ts';
import { definition } from '../../view/report/support.ts';
import { keptIn, openBench, removeFolders } from '../../substrate/git/bench.ts';
import { git } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

/** A run that has delivered one commit, and the bare repository that it is to be pushed to. */
async function openDelivered(test: { onTestFinished(work: () => Promise<void>): void }) {
  const bench = await openBench();
  const { workspaces, report, repository } = bench;
  const bare = join(bench.root, 'bare.git');
  git(bench.root, 'init', '-q', '--bare', bare);
  git(repository, 'remote', 'add', 'origin', bare);
  const checks = openChecksBench();
  test.onTestFinished(() => checks.close());
  const site: OperationPorts = {
    ...checks.engine,
    definition: {
      ...definition(),
      name: 'run',
      publish: { remote: 'origin', pr: false },
      repository: { root: report.root, base: report.head, branch: 'main' },
    },
    workspaces,
    forge: compose(testHost(bench.root, {})).forge(report),
    emptyFolder: join(bench.root, 'empty'),
    copies: { put: async () => undefined, takeOut: async () => undefined },
    pure: new Set(),
  };
  await allocateWorkspace(site);
  const folder = await workspaces.addFolder({ run: 'run', task: 'a', commit: report.head });
  const delivered = await keptIn(workspaces, folder, { 'a.txt': 'a\n' });
  await workspaces.advance('run', report.head, delivered);
  const event = { type: 'branch-advanced', commit: delivered };
  site.ledger.note(site.lease, RUN_EVENTS.work, plainJson({ task: 'a', event }));
  const push = async () => pushRun(site, (await workspaces.runHead('run')) ?? '');
  const pushed = (path: string) => git(path, 'for-each-ref', '--format=%(objectname) %(refname)');
  return { ...bench, site, bare, folder, delivered, push, pushed };
}

describe('pushing the run branch', () => {
  it('pushes what was delivered, also while a person sets up other remotes', ALL, async (test) => {
    const { repository, bare, delivered, push, pushed } = await openDelivered(test);
    git(repository, 'remote', 'add', 'upstream', 'https://example.invalid/x.git');
    expect(await push()).toEqual({ remote: 'origin' });
    expect(pushed(bare)).toBe(`${delivered} refs/heads/squad/run`);
  });

  it('refuses a branch that holds more, or other, than what was delivered', ALL, async (test) => {
    const { workspaces, repository, site, bare, folder, delivered, pushed, report } = await openDelivered(test);
    const empty = createBoard(factsOf(site.definition));
    const board = {
      ...empty,
      branch: { ...empty.branch, head: delivered },
      finished: { outcome: 'done', why: 'all work is delivered' } as const,
    };
    const unseen = await keptIn(workspaces, folder, { 'unseen.txt': 'unseen\n' });
    for (const other of [unseen, report.head, git(repository, 'commit-tree', `${delivered}^{tree}`, '-m', 'no past')]) {
      git(repository, 'update-ref', 'refs/heads/squad/run', other);
      const { problem } = await publishWork(site, board, undefined);
      expect(problem).toContain(`it is at ${other.slice(0, 12)}, and the run delivered ${delivered.slice(0, 12)} last`);
    }
    expect(pushed(bare)).toBe('');
  });
});
