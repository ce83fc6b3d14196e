import type { TaskState } from '../../model/plan/board.ts';
import type { Phase } from '../../model/plan/work.ts';

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
 * Whether the operation that brought its task into this phase also does what the phase asks for. `at-once`: yes, before its
 * results are in the ledger. `recorded`: once they are, because the run branch may only move to a recorded candidate of a task
 * that was not stopped meanwhile. `later`: no, the graph decides first.
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
