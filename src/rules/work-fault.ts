import type { Phase, WorkEvent } from '../model/plan/work.ts';

/**
 * The event after an exception during the engine's work in this phase. `head`: of the run branch at the last delivery. undefined: the task
 * is not at fault, because only refs of the user's repository were moved.
 */
export function decideFault({ at }: Pick<Phase, 'at'>, why: string, head: string): WorkEvent | undefined {
  switch (at) {
    case 'gathering': {
      // Its agent may be able to repair it.
      const nothing = {
        commit: null,
        commits: 0,
        changedPaths: [],
        uncommitted: [],
        files: [],
        commands: [],
        pr: null,
      };
      return { type: 'evidence-gathered', facts: { ...nothing, base: head, problem: why } };
    }
    case 'integrating':
    case 'verifying':
      return { type: 'settle-asked', as: 'failed', cause: 'verify', why };
    case 'advancing':
    case 'working':
    case 'reviewing':
    case 'in-queue':
    case 'stopping':
    case 'ended':
      return undefined;
  }
}
