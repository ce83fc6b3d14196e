// @module-tag all
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { applyChanges } from '../../../src/rules/apply-changes.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { applyWork } from '../../../src/rules/plan-step.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import type { WorkEvent } from '../../../src/model/plan/work.ts';
import { createFolderRemoval } from '../../../src/engine/operations/folder-removal.ts';
import type { TaskFolder, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { newTask } from '../../rules/support.ts';
import { factsOf, member } from '../../playbooks/simulator.ts';
import { commitIn, openBench, removeFolders } from '../../substrate/git/bench.ts';
import { git } from '../../support/git.ts';

afterEach(removeFolders);

const AT = { seq: 1, at: 1 };
const END: WorkEvent = { type: 'settle-asked', as: 'done', why: '' };

/** Tasks with a commit each in folders of their own, in a real repository. */
async function openTasks(...ids: string[]) {
  const bench = await openBench();
  const { repository, workspaces, report, ports } = bench;
  const folders = new Map<string, TaskFolder>();
  for (const id of ids) {
    const folder = await workspaces.addFolder({ run: 'run', task: id, commit: report.head });
    commitIn(folder, { [`${id}.txt`]: `${id}\n` });
    folders.set(id, folder);
  }
  const changes = ids.map((id) => ({ do: 'add-task', task: newTask(id) }) as const);
  const { board } = applyChanges(createBoard(factsOf([member('bob', 'builder')])), changes, AT);
  const tell = (before: Board, task: string, event: WorkEvent): Board => applyWork(before, task, event, AT).board;
  const pathOf = (id: string): string => folders.get(id)?.workspace.path ?? '';
  const open = (isBusy: () => boolean, change: (real: Workspaces) => Partial<Workspaces> = () => ({})) =>
    createFolderRemoval({
      clock: ports.clock,
      run: 'run',
      base: report.head,
      workspaces: { ...workspaces, ...change(workspaces) },
      isBusy,
    });
  const isThere = (id: string): boolean => existsSync(pathOf(id));
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await ports.clock.sleep(5);
  };
  const kept = (): string => git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad/run');
  return { ...bench, board, tell, open, isThere, until, kept, pathOf };
}

const FREE = (): boolean => false;

describe('the folders of tasks that are done', () => {
  it('leave the folder of a turn that works alone, which is opened as it was asked for', async () => {
    const { open, pathOf, report } = await openTasks('a');
    const removal = open(FREE);
    const arm = join(pathOf('a'), '.git', 'config.worktree');
    const place = { run: 'run', task: 'a', commit: report.head };
    writeFileSync(arm, '');
    await removal.workspaces.addFolder({ ...place, inUse: true });
    expect(existsSync(arm)).toBe(true);
    await removal.workspaces.addFolder(place);
    expect(existsSync(arm)).toBe(false);
  });

  it('are removed one at a time, and their work is kept at refs as at the end', async () => {
    const { board, tell, open, isThere, until, kept } = await openTasks('a', 'b', 'c');
    let most = 0;
    let now = 0;
    const removal = open(FREE, ({ removeFolder }) => ({
      removeFolder: async (...parameters) => {
        now += 1;
        most = Math.max(most, now);
        return removeFolder(...parameters).finally(() => (now -= 1));
      },
    }));
    removal.look(tell(tell(board, 'a', END), 'b', END));
    await until(() => !isThere('a') && !isThere('b'));
    await removal.stop();
    expect([most, isThere('c')]).toEqual([1, true]);
    expect(kept()).toBe('refs/squad/run/a-1\nrefs/squad/run/b-1');
  });

  it('stay while a turn waits for the engine, though not for ever', async () => {
    const { board, tell, open, isThere, until } = await openTasks('a', 'b');
    let looks = 0;
    const removal = open(() => {
      looks += isThere('a') ? 1 : 0;
      return true;
    });
    removal.look(tell(board, 'a', END));
    await until(() => !isThere('a'));
    await removal.stop();
    expect(looks).toBeGreaterThan(20);
  });

  it('are removed while the run is checked for its end, when no turn can wait', async () => {
    const { board, tell, open, isThere, until } = await openTasks('a');
    let looks = 0;
    const removal = open(() => {
      looks += 1;
      return true;
    });
    removal.look(tell(board, 'a', END));
    await until(() => !isThere('a'));
    expect(looks).toBe(0);
  });

  it('stay if the task is open again by the time that the engine is free', async () => {
    const { board, tell, open, isThere, ports } = await openTasks('a', 'b');
    let busy = true;
    const removal = open(() => busy);
    const done = tell(board, 'a', END);
    removal.look(done);
    removal.look(tell(done, 'a', { type: 'reopened', feedback: 'more', session: 'same' }));
    busy = false;
    await ports.clock.sleep(100);
    await removal.stop();
    expect(isThere('a')).toBe(true);
  });

  it('are opened again once they are gone, while others are opened at once', async () => {
    const { board, tell, open, isThere, until, report } = await openTasks('a');
    const gate = Promise.withResolvers<void>();
    let begun = false;
    const removal = open(FREE, ({ removeFolder }) => ({
      removeFolder: async (...parameters) => {
        begun = true;
        await gate.promise;
        return removeFolder(...parameters);
      },
    }));
    removal.look(tell(board, 'a', END));
    await until(() => begun);
    const again = removal.workspaces.addFolder({ run: 'run', task: 'a', commit: report.head });
    await removal.workspaces.addFolder({ run: 'run', task: 'b', commit: report.head });
    expect(await Promise.race([again, Promise.resolve('waits')])).toBe('waits');
    gate.resolve();
    expect((await again).workspace.path).toContain('/a');
    expect(isThere('a')).toBe(true);
  });

  it('are removed again after the task was opened and done again', async () => {
    const { board, tell, open, isThere, until, report } = await openTasks('a');
    const removal = open(FREE);
    const done = tell(board, 'a', END);
    removal.look(done);
    await until(() => !isThere('a'));
    const opened = tell(done, 'a', { type: 'reopened', feedback: 'more', session: 'same' });
    removal.look(opened);
    await removal.workspaces.addFolder({ run: 'run', task: 'a', commit: report.head });
    removal.look(tell(opened, 'a', END));
    await until(() => !isThere('a'));
  });

  it('that cannot be removed are left to the end of the run, and hold up no others', async () => {
    const { board, tell, open, isThere, until } = await openTasks('a', 'b', 'c');
    const removal = open(FREE, ({ removeFolder }) => ({
      removeFolder: async (folder, attempt) => {
        if (folder.task === 'a') throw new Error('the disk is full');
        if (folder.task === 'b') return { type: 'refused', reason: 'in-use', detail: ['process 1'] };
        return removeFolder(folder, attempt);
      },
    }));
    removal.look(tell(tell(tell(board, 'a', END), 'b', END), 'c', END));
    await until(() => !isThere('c'));
    expect([isThere('a'), isThere('b')]).toEqual([true, true]);
  });

  it('are not touched any more once it has stopped, and the last removal is over', async () => {
    const { board, tell, open, isThere, until, ports } = await openTasks('a', 'b');
    let begun = false;
    const removal = open(FREE, ({ removeFolder }) => ({
      removeFolder: async (...parameters) => {
        begun = true;
        return removeFolder(...parameters);
      },
    }));
    removal.look(tell(tell(board, 'a', END), 'b', END));
    await until(() => begun);
    await removal.stop();
    expect(isThere('a')).toBe(false);
    await ports.clock.sleep(100);
    expect(isThere('b')).toBe(true);
  });
});
