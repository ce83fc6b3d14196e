import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { placeSchema } from '../../../src/model/attempt-order.ts';
import { openPlace } from '../../../src/engine/operations/open-place.ts';
import { allocateWorkspace } from '../../../src/engine/operations/publish-run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { openChecksBench } from '../checks/checks-bench.ts';
import { definition } from '../../view/report/support.ts';
import { commitIn, keptIn, fingerprint, openBench, removeFolders } from '../../substrate/git/bench.ts';
import { git } from '../../support/git.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

/** A real repository, a real ledger, and a setup command that really runs. */
async function openSite(test: { onTestFinished(work: () => Promise<void>): void }, run = 'echo once >> built.log') {
  const bench = await openBench({ '.gitignore': 'built.log\n', 'a.txt': 'a\n' });
  const checks = openChecksBench();
  test.onTestFinished(() => checks.close());
  const { root: repository, head: base } = bench.report;
  const site: OperationPorts = {
    ...checks.engine,
    definition: {
      ...definition(),
      name: 'run',
      setup: [{ run, minutes: 1 }],
      repository: { root: repository, base, branch: 'main' },
    },
    workspaces: bench.workspaces,
    forge: compose(testHost(bench.root, {})).forge(bench.report),
    emptyFolder: join(bench.root, 'empty'),
    copies: { put: async () => undefined, takeOut: async () => undefined },
    pure: new Set(),
  };
  await allocateWorkspace(site);
  const open = async (number: number, order: object = {}) => {
    const place = placeSchema.parse({ folder: 'task', commit: null, own: true, ...order });
    const opened = await openPlace(site, place, { task: 'task', name: `task-${number}`, number });
    if (opened.type !== 'open' || opened.folder === null) throw new Error(JSON.stringify(opened));
    return opened.folder;
  };
  return { ...bench, site, open };
}

const RESET = { reset: { rescueAs: 'task-1-rescued' } };

describe('a place whose folder somebody deleted', () => {
  it('is made anew where the task had come to, and set up again', ALL, async (test) => {
    const { open, workspaces } = await openSite(test);
    const first = await open(1);
    const { path } = first.workspace;
    const work = await keptIn(workspaces, first, { 'half.txt': 'half\n' });
    for (const attempt of [2, 3]) {
      rmSync(path, { recursive: true });
      await open(attempt, { kept: work });
      expect(git(path, 'rev-parse', 'HEAD')).toBe(work);
      expect(readFileSync(join(path, 'built.log'), 'utf8')).toBe('once\n');
      await open(attempt);
      expect(readFileSync(join(path, 'built.log'), 'utf8')).toBe('once\n');
    }
  });
});

describe('a place that is to be reset', () => {
  it('is rescued, made anew at the delivered base, and set up again, once for its attempt', ALL, async (test) => {
    const { repository, workspaces, open, report } = await openSite(test);
    const before = fingerprint(repository);
    const first = await open(1);
    const { path } = first.workspace;
    const built = () => readFileSync(join(path, 'built.log'), 'utf8');
    expect(built()).toBe('once\n');
    const work = commitIn(first, { 'half.txt': 'half\n' });
    writeFileSync(join(path, 'draft.txt'), 'draft\n');
    writeFileSync(join(path, 'built.log'), 'stale\n');
    // Meanwhile somebody else's work was delivered.
    const other = await workspaces.addFolder({ run: 'run', task: 'other', commit: report.head });
    const delivered = await keptIn(workspaces, other, { 'other.txt': 'other\n' });
    expect(await workspaces.advance('run', report.head, delivered)).toEqual({ type: 'advanced' });

    const second = await open(2, RESET);
    expect(second.workspace.path).toBe(path);
    expect(git(path, 'rev-parse', 'HEAD')).toBe(delivered);
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(built()).toBe('once\n');
    expect(git(repository, 'show', 'refs/squad/run/task-1-rescued:draft.txt')).toBe('draft');
    expect(git(repository, 'rev-parse', 'refs/squad/run/task-1-rescued^')).toBe(work);

    // Its engine died before it had started: the same attempt finds the place as it was left, set up already.
    writeFileSync(join(path, 'built.log'), 'set up\n');
    expect(await open(2, RESET)).toEqual({ ...second, fresh: undefined });
    expect(built()).toBe('set up\n');
    // The next attempt goes on in it.
    writeFileSync(join(path, 'next.txt'), 'next\n');
    expect(await open(3)).toEqual({ ...second, fresh: undefined });
    expect(built()).toBe('set up\n');
    expect(readFileSync(join(path, 'next.txt'), 'utf8')).toBe('next\n');
    // And is reset in its turn, under a name that is taken by now.
    await open(4, RESET);
    expect(built()).toBe('once\n');
    expect(existsSync(join(path, 'next.txt'))).toBe(false);
    expect(git(repository, 'show', 'refs/squad/run/task-1-rescued-2:next.txt')).toBe('next');
    expect(fingerprint(repository)).toEqual(before);
  });

  it('is a failure that asks a person where something would be lost', ALL, async (test) => {
    const { site, open } = await openSite(test, 'true');
    const { path } = (await open(1)).workspace;
    git(path, 'init', '-q', 'vendor');
    git(join(path, 'vendor'), 'commit', '-q', '--allow-empty', '-m', 'inner');
    const place = placeSchema.parse({ folder: 'task', commit: null, own: true, ...RESET });
    const opened = await openPlace(site, place, { task: 'task', name: 'task-2', number: 2 });
    expect(opened).toMatchObject({
      type: 'refused',
      failure: { kind: 'setting-unsupported', setting: 'git', message: expect.stringContaining('vendor') as string },
    });
    expect(existsSync(join(path, 'vendor', '.git'))).toBe(true);
  });
});
