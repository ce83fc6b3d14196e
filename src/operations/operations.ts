import { decideBase } from '../graph/decisions/base.ts';
import { plainJson } from '../model/json.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { failpoint } from '../substrate/failpoint.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { advanceBranch, integrateWork, verifyCandidate } from './integrate-work.ts';
import type { RunSite } from './run-site.ts';

export interface OperationHooks {
  /** A result is in the ledger. */
  onNoted(): void;
  /** The machine is at fault; nothing was noted, and a later engine tries again. */
  onBroken(error: unknown): void;
}

/** What the engine itself has to do about tasks, as their phases say: begun again from the board after any crash. */
export function createOperations(site: RunSite, hooks: OperationHooks) {
  const running = new Set<string>();
  const noted = new Map<string, number>();

  const perform = async (task: string, work: Promise<WorkEvent>): Promise<void> => {
    try {
      const event = await work;
      failpoint('operation.before-note');
      noted.set(task, site.ledger.note(site.lease, RUN_EVENTS.work, plainJson({ task, event })));
      failpoint('operation.noted');
      running.delete(task);
      hooks.onNoted();
    } catch (error) {
      running.delete(task);
      hooks.onBroken(error);
    }
  };

  return {
    ensure: (board: Board, cursor: number): void => {
      for (const state of board.tasks.open) {
        const { id } = state.task;
        if (running.has(id) || (noted.get(id) ?? 0) > cursor) continue;
        const work = operationOf(site, state, board);
        if (work === undefined) continue;
        running.add(id);
        void perform(id, work());
      }
    },
  };
}

function operationOf(site: RunSite, state: TaskState, board: Board): (() => Promise<WorkEvent>) | undefined {
  const { phase } = state.work;
  switch (phase.at) {
    case 'gathering':
      return async () => gatherEvidence(site, state, decideBase(state.task, board));
    case 'integrating':
      return async () => integrateWork(site, state, phase);
    case 'verifying':
      return async () => verifyCandidate(site, state, phase);
    case 'advancing':
      return async () => advanceBranch(site, phase);
    case 'working':
    case 'reviewing':
    case 'in-queue':
    case 'stopping':
    case 'ended':
      return undefined;
  }
}
