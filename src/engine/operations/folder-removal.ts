import { leftFolders } from '../../rules/left-folders.ts';
import type { Board } from '../../model/plan/board.ts';
import { TaskTable } from '../../model/plan/task-table.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Workspaces } from '../../substrate/ports/workspaces.ts';

/** How often to look for a moment in which no turn waits for the engine (ms). */
const LOOK_MS = 25;
/**
 * How often to look in vain. Then a folder is removed although a turn waits, so that no busy run keeps them all. The more folders
 * are left, the sooner.
 */
const MOST_LOOKS = 40;

interface RemovalPorts {
  readonly clock: Clock;
  readonly run: string;
  readonly workspaces: Workspaces;
  /** Commit of the run at which spare folders are made. */
  readonly base: string;
  /** A turn waits for what the engine does now. */
  isBusy(): boolean;
}

/** Removes the folders of tasks that are done, one at a time, while other tasks are at work, and where another task can use their files. */
export interface FolderRemoval {
  /** As the given ones, but opening a folder that is being removed waits until it is gone, and a new one is made of one that is left. */
  readonly workspaces: Workspaces;
  /** Finds the tasks that are done since the last board. */
  look(board: Board): void;
  /** Begins no further removal, and resolves when the last one has ended. */
  stop(): Promise<void>;
}

/**
 * Each removal keeps the folder's work at refs, as at the end of the run, so neither a crash nor a later retry loses any. A folder
 * that cannot be removed stays for the end of the run, which tries again and reports why.
 */
export function createFolderRemoval(ports: RemovalPorts): FolderRemoval {
  const { clock, run, workspaces } = ports;
  const queue = createQueue();
  const removing = new Map<string, Promise<unknown>>();
  let tidying: Promise<unknown> | undefined;
  let isWorking = false;
  let isStopped = false;

  const removeNext = async (): Promise<boolean> => {
    const left = isStopped ? undefined : queue.take();
    if (left === undefined) return false;
    const { folder, attempt } = left;
    // If the machine is at fault, the end of the run says so.
    const done = workspaces.removeFolder({ run, task: folder }, attempt).catch(() => undefined);
    removing.set(folder, done);
    await done;
    removing.delete(folder);
    return true;
  };
  const tidy = async (): Promise<boolean> => {
    // The next task makes a folder of its own then.
    const done = workspaces.tidySpares(ports.base).catch(() => false);
    tidying = done;
    return done;
  };
  const work = async (): Promise<void> => {
    for (let looks = 1; ; looks += 1) {
      await clock.sleep(LOOK_MS);
      if (isStopped) return;
      if (queue.mayStart() && ports.isBusy() && looks * Math.max(queue.size(), 1) < MOST_LOOKS) continue;
      if (!(await removeNext()) && !(await tidy())) return;
      looks = 0;
    }
  };

  return {
    workspaces: {
      ...workspaces,
      addFolder: async (place) => {
        await removing.get(place.task);
        return workspaces.addFolder({ ...place, freeOne: removeNext });
      },
    },
    look: (board) => {
      queue.look(board);
      if (isWorking || isStopped) return;
      isWorking = true;
      void work().finally(() => {
        isWorking = false;
      });
    },
    stop: async () => {
      isStopped = true;
      await Promise.all([...removing.values(), tidying]);
    },
  };
}

interface Left {
  readonly folder: string;
  readonly attempt: string;
}

/** The folders that are left and were not tried yet, by the newest board. */
function createQueue() {
  let newest: Pick<Board, 'tasks'> = { tasks: new TaskTable() };
  /** By task that is done: those of its folders that were tried. */
  const done = new Map<string, Set<string>>();
  return {
    /** A task is open, so a turn may start. Otherwise the run is being checked for its end, which may take minutes. */
    mayStart: (): boolean => newest.tasks.open.length > 0,
    /** Tasks whose folders are left. */
    size: (): number => done.size,
    look: (board: Board): void => {
      for (const { task, work } of board.tasks.changedSince(newest.tasks)) {
        if (work.phase.at === 'ended' && work.phase.as === 'done') done.set(task.id, new Set());
      }
      newest = board;
    },
    /** No later call answers the same folder, unless its task is done once more. */
    take: (): Left | undefined => {
      for (const [id, tried] of done) {
        const state = newest.tasks.get(id);
        const folders = state === undefined ? [] : leftFolders(state, newest);
        if (folders === 'later') continue;
        const folder = folders.find((one) => !tried.has(one));
        if (folder !== undefined) {
          tried.add(folder);
          return { folder, attempt: lastAttempt(newest, folder) };
        }
        done.delete(id);
      }
      return undefined;
    },
  };
}

/** The ref of the run that keeps the work in a folder when it is removed. */
export function lastAttempt({ tasks }: Pick<Board, 'tasks'>, folder: string): string {
  return `${folder}-${Math.max(1, tasks.get(folder)?.work.attempts ?? 0)}`;
}
