import type { TaskState } from '../model/plan/board.ts';
import type { Phase } from '../model/plan/work.ts';

/** Whether the task is the one that is being integrated. */
export function isIntegrating(phase: Phase): boolean {
  if (phase.at === 'gathering') return phase.holdsQueue === true;
  return phase.at === 'integrating' || phase.at === 'verifying' || phase.at === 'advancing';
}

/** Whether the task can be integrated as soon as its evidence is there, and its evidence takes no longer than git does. */
export function mayHoldQueue({ task, work }: TaskState): boolean {
  if (work.phase.at !== 'gathering' || task.kind !== 'work') return false;
  if (!task.integrate || task.review !== undefined) return false;
  return task.requires.every(({ kind }) => kind !== 'command' && kind !== 'pr');
}

/**
 * When the operation that led into this phase also does the next step. `at-once`: before its results are recorded. `recorded`: after, as
 * the branch moves only to recorded candidates of live tasks. `later`: the graph decides.
 */
export function decideOnward(phase: Phase): 'at-once' | 'recorded' | 'later' {
  switch (phase.at) {
    case 'integrating':
      return 'at-once';
    case 'advancing':
      return 'recorded';
    case 'working':
    case 'gathering':
    case 'reviewing':
    case 'in-queue':
    case 'verifying':
    case 'stopping':
    case 'ended':
      return 'later';
  }
}
