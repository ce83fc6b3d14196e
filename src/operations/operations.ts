import { decideBase } from '../graph/decisions/base.ts';
import { plainJson } from '../text/json.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { failpoint } from '../substrate/failpoint.ts';
import { isGateDue, isRestoreDue } from '../graph/decisions/gate.ts';
import type { PlanNews } from '../model/plan/event.ts';
import { checkGate } from './check-gate.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { advanceBranch, integrateWork, restoreBranch, verifyCandidate } from './integrate-work.ts';
import type { OperationPorts } from './operation-ports.ts';

export interface OperationHooks {
  /** The ledger has a result. */
  onNoted(): void;
  /** The machine failed. The ledger has no result, and a later engine tries again. */
  onBroken(error: unknown): void;
}

/** The engine's own work on tasks. It follows from their phases on the board, so it starts again after a crash. */
export function createOperations(ports: OperationPorts, hooks: OperationHooks) {
  const running = new Set<string>();
  const noted = new Map<string, number>();

  const perform = async (key: string, work: () => Promise<Noted>): Promise<void> => {
    try {
      const { type, data } = await work();
      failpoint('operation.before-note');
      noted.set(key, ports.ledger.note(ports.lease, type, plainJson(data)));
      failpoint('operation.noted');
      running.delete(key);
      hooks.onNoted();
    } catch (error) {
      running.delete(key);
      hooks.onBroken(error);
    }
  };

  return {
    ensure: (board: Board, cursor: number): void => {
      for (const { key, work } of dueOf(ports, board)) {
        if (running.has(key) || (noted.get(key) ?? 0) > cursor) continue;
        running.add(key);
        void perform(key, work);
      }
    },
  };
}

interface Noted {
  readonly type: string;
  readonly data: unknown;
}

/** A key is a task's id, or begins with `@`, which no task id does. */
function dueOf(ports: OperationPorts, board: Board): { key: string; work: () => Promise<Noted> }[] {
  const ofRun = async (news: Promise<PlanNews>): Promise<Noted> => {
    const data = await news;
    return { type: data.type, data };
  };
  return [
    ...board.tasks.open.flatMap((state) => {
      const { id } = state.task;
      const work = operationOf(ports, state, board);
      if (work === undefined) return [];
      return [{ key: id, work: async () => ({ type: RUN_EVENTS.work, data: { task: id, event: await work() } }) }];
    }),
    ...(isGateDue(board) ? [{ key: '@gate', work: async () => ofRun(checkGate(ports, board)) }] : []),
    ...(isRestoreDue(board) ? [{ key: '@branch', work: async () => ofRun(restoreBranch(ports, board)) }] : []),
  ];
}

function operationOf(ports: OperationPorts, state: TaskState, board: Board): (() => Promise<WorkEvent>) | undefined {
  const { phase } = state.work;
  switch (phase.at) {
    case 'gathering':
      return async () => gatherEvidence(ports, state, { base: decideBase(state.task, board), head: board.branch.head });
    case 'integrating':
      return async () => integrateWork(ports, state, phase, board.branch.head);
    case 'verifying':
      return async () => verifyCandidate(ports, state, phase);
    case 'advancing':
      return async () => advanceBranch(ports, phase, board.branch.head);
    case 'working':
    case 'reviewing':
    case 'in-queue':
    case 'stopping':
    case 'ended':
      return undefined;
  }
}
