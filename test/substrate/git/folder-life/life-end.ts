import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { git } from '../../../support/git.ts';
import { findFaults, fingerprint } from '../bench.ts';
import { openLife, RUN, type Life } from './life.ts';

/** All that was there as work is still to be had from the person's repository. */
function expectNothingLost({ repository, record }: Life): void {
  const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
  const commits = git(repository, 'rev-list', '--all').split('\n');
  const files = git(repository, 'log', '--all', '--format=', '--name-only').split('\n');
  for (const [kind = '', what = ''] of lines.map((line) => line.split(' '))) {
    if (kind === 'commit') expect(commits).toContain(what);
    if (kind === 'draft') expect(files).toContain(`${what}-draft.txt`);
  }
}

/** As `squad clean` does, whatever state the run is in. */
async function clean({ workspaces }: Life): Promise<void> {
  for (const { task } of await workspaces.listFolders(RUN)) {
    const answer = await workspaces.removeFolder({ run: RUN, task }, `${task.replaceAll('_', '')}-left`);
    expect(answer.type, JSON.stringify(answer)).toBe('removed');
  }
  expect(await workspaces.closeRun(RUN)).toEqual([]);
  await workspaces.dropSpares();
}

/** The run's folders and those that no task has go, and all else is as it was. `before`: of the person's repository. */
export async function expectCleanEnd(life: Life, before: Record<string, string>): Promise<void> {
  const next = await openLife(life);
  await clean(next);
  expectNothingLost(next);
  expect(readdirSync(join(life.root, 'state', 'work'))).toEqual([]);
  expect(fingerprint(life.repository)).toEqual(before);
  expect(findFaults(life)).toEqual([]);
  await next.workspaces.close();
}

export function expectDelivered({ repository }: Life): void {
  expect(git(repository, 'ls-tree', '--name-only', `squad/${RUN}`, 'one.txt', 'two.txt')).toBe('one.txt\ntwo.txt');
}
