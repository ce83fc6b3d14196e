// @module-tag all
import { randomBytes } from 'node:crypto';
import { readdirSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type GitAnswer, gitFailed, verbOf } from '../../../src/substrate/git/git-call.ts';
import { isStorageError } from '../../../src/model/storage-error.ts';
import type { TaskFolder } from '../../../src/substrate/ports/workspaces.ts';
import { createRepository } from '../../support/git.ts';
import { ALL, some, SPREAD } from '../../support/lane.ts';
import { canMount, openSmallDisk, type SmallDisk } from '../../support/small-disk.ts';
import { benchOver, commitIn, keptIn, refusalOf, type GitBench } from './bench.ts';

const BIG = 3 * 1024 * 1024;
const noise = (bytes: number): string => randomBytes(bytes / 2).toString('hex');

interface Prepared extends GitBench {
  readonly one: TaskFolder;
  readonly other: TaskFolder;
  /** Kept work of the first and of the second task. */
  readonly commits: readonly [string, string];
}

/** A run with two tasks whose work is kept. */
async function prepare(root: string): Promise<Prepared> {
  const bench = await benchOver(root, createRepository(join(root, 'repository'), { 'big.txt': noise(BIG) }));
  const { workspaces, report } = bench;
  await workspaces.createRunBranch('run', report.head);
  const folders = ['one', 'other'].map((task) => ({ run: 'run', task, commit: report.head }));
  const one = await workspaces.addFolder(folders[0] ?? expect.fail());
  const other = await workspaces.addFolder(folders[1] ?? expect.fail());
  const commits = [
    await keptIn(workspaces, one, { 'one.txt': 'one\n' }),
    await keptIn(workspaces, other, { 'other.txt': noise(BIG) }),
  ] as const;
  return { ...bench, one, other, commits };
}

/** What squad's git writes for a run. */
const WRITES: Readonly<Record<string, (bench: Prepared) => Promise<unknown>>> = {
  'the branch of a run': async ({ workspaces, report }) =>
    workspaces.createRunBranch('next', report.head, [], 'id-of-it'),
  'the folder of a task': async ({ workspaces, report }) =>
    workspaces.addFolder({ run: 'run', task: 'third', commit: report.head }),
  'the ref that keeps an attempt': async ({ workspaces, commits }) =>
    workspaces.keepAttempt('run', 'one-7', commits[0]),
  'a candidate': async ({ workspaces, commits }) => {
    await workspaces.advance('run', (await workspaces.runHead('run')) ?? '', commits[0]);
    return workspaces.integrate({ run: 'run', commit: commits[1], message: 'Deliver' });
  },
  'the checkout of a candidate': async ({ workspaces, commits }) => workspaces.integrationAt('run', commits[1]),
  'a delivery': async ({ workspaces, commits }) =>
    workspaces.advance('run', (await workspaces.runHead('run')) ?? '', commits[1]),
  'a rescue': async ({ workspaces, one }) => {
    writeFileSync(join(one.workspace.path, 'one.txt'), '');
    return workspaces.rescue(one, 'one-8');
  },
  'the place of a folder that moves': async ({ workspaces, one, commits }) =>
    workspaces.moveFolder(one, commits[1], 'one-9'),
};

const SMALL_DISK = canMount();
const title = (text: string): string => (SMALL_DISK ? text : `${text} (skipped: no tmpfs can be mounted here)`);

/** Where what is written is larger than what is left. */
const DOES_NOT_FIT = ['the folder of a task', 'the checkout of a candidate'];
const LEFT = 1024 * 1024;
const CASES = [
  ...Object.keys(WRITES).map((name) => ({ name, left: 0 })),
  ...DOES_NOT_FIT.map((name) => ({ name, left: LEFT })),
];

function fillUpTo(disk: SmallDisk, left: number): void {
  disk.fill();
  const filler = join(disk.root, 'filler');
  truncateSync(filler, statSync(filler).size - left);
}

describe.skipIf(!SMALL_DISK)(title('on a disk without space'), () => {
  it.each(some(CASES, 0, 3))(
    '$name is refused for the disk alone with $left bytes left, and made once there is space',
    SPREAD,
    async ({ name, left }) => {
      const disk = openSmallDisk(96) ?? expect.fail('no disk');
      onTestFinished(() => disk.close());
      const bench = await prepare(disk.root);
      const act = async (): Promise<unknown> => WRITES[name]?.(bench);
      fillUpTo(disk, left);
      const error = await act().then(
        (answer) => expect.fail(`it was made: ${JSON.stringify(answer)}`),
        (thrown: unknown) => thrown,
      );
      // Node's own errors become that one above.
      const code = isStorageError(error) ? error.code : (error as NodeJS.ErrnoException).code;
      expect(['storage-full', 'ENOSPC'], String(error)).toContain(code);
      disk.free();
      await expect(act()).resolves.not.toMatchObject({ type: 'taken' });
      await bench.workspaces.close();
    },
  );

  it('a folder that does not fit is refused with its size before anything of it is written', ALL, async () => {
    const disk = openSmallDisk(96) ?? expect.fail('no disk');
    onTestFinished(() => disk.close());
    const bench = await prepare(disk.root);
    fillUpTo(disk, LEFT);
    const before = readdirSync(bench.one.workspace.path + '/..').toSorted();
    const free = statfsSync(disk.root).bfree;
    const refused = await refusalOf(bench.workspaces.addFolder({ run: 'run', task: 'big', commit: bench.report.head }));
    expect(refused.code).toBe('storage-full');
    expect(refused.message).toMatch(
      /the folder of big takes 3\.\d MB, and .* free on the disk; nothing of it was written/,
    );
    expect(refused.next).toContain('squad resume');
    expect(readdirSync(bench.one.workspace.path + '/..').toSorted()).toEqual(before);
    expect(statfsSync(disk.root).bfree).toBeGreaterThanOrEqual(free - 8);
    disk.free();
    await bench.workspaces.addFolder({ run: 'run', task: 'big', commit: bench.report.head });
    await bench.workspaces.close();
  });

  it('a commit of an agent that does not fit is taken once there is space', ALL, async () => {
    const disk = openSmallDisk(96) ?? expect.fail('no disk');
    onTestFinished(() => disk.close());
    const bench = await prepare(disk.root);
    const commit = commitIn(bench.one, { 'more.txt': noise(BIG) });
    fillUpTo(disk, LEFT);
    expect((await refusalOf(bench.workspaces.snapshot(bench.one))).code).toBe('storage-full');
    disk.free();
    expect(await bench.workspaces.snapshot(bench.one)).toMatchObject({ head: commit });
    await bench.workspaces.close();
  });
});

describe('what git says', () => {
  const answer = (more: Partial<GitAnswer>): GitAnswer => ({ code: 128, stdout: '', stderr: 'fatal: no', ...more });

  it.each([
    ['of a full disk', answer({ stderr: 'fatal: x: No space left on device' }), 'storage-full', 75],
    ['of a quota', answer({ stderr: 'fatal: x: Disk quota exceeded' }), 'storage-full', 75],
    ['nothing of the disk, which is full', answer({ fullDisk: '/disk' }), 'storage-full', 75],
    ['of a disk that is read-only', answer({ stderr: 'fatal: x: Read-only file system' }), 'storage-refused', 75],
    ['something else', answer({}), 'wrong-environment', 78],
  ])('%s', (_, given, code, exitCode) => {
    expect(gitFailed(['-c', 'a.b=c', 'update-ref', 'x'], given)).toMatchObject({
      code,
      exitCode,
      message: expect.stringContaining('git update-ref'),
    });
  });

  it('is asked of the command past its settings', () => {
    expect(verbOf(['-c', 'a=b', '-c', 'c=d', 'fetch', '--quiet', 'place'])).toBe('fetch');
    expect(verbOf(['update-ref'])).toBe('update-ref');
    expect(verbOf(['--version'])).toBe('git');
  });
});
