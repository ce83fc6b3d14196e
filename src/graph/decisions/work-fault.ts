import type { Phase, WorkEvent } from '../../model/plan/work.ts';

/**
 * What follows if something was thrown while the engine worked for a task in this phase. `head`: of the run branch, as it was
 * delivered last. undefined: it is no fault of the task, because only the refs of the user's repository were moved.
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
