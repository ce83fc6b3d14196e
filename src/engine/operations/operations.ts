import { decideBase } from '../../rules/base.ts';
import { isGateDue, isRestoreDue } from '../../rules/gate.ts';
import type { LookUps } from '../../model/plan/judge-evidence.ts';
import type { NamedEvidence } from '../../rules/judge-evidence.ts';
import type { CitedFiles } from '../../rules/findings.ts';
import { decideFault } from '../../rules/work-fault.ts';
import { decideOnward } from '../../rules/onward.ts';
import { applyWork } from '../../rules/plan-step.ts';
import { isInput } from '../../rules/read-input.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import type { Cited } from '../../model/plan/review.ts';
import type { PlanNews } from '../../model/plan/event.ts';
import type { Phase, WorkEvent } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainJson } from '../../text/json.ts';
import { checkGate } from './check-gate.ts';
import { checkingCommands } from './find-checkers.ts';
import { citeFiles, lookUp } from './cite-files.ts';
import { createFolderRemoval } from './folder-removal.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { advanceBranch, integrateWork, restoreBranch, verifyCandidate } from './integrate-work.ts';
import type { Due, Note, OperationPorts } from './operation-ports.ts';
import { isBaselineDue } from '../../rules/baseline.ts';
import { BASELINE, checkBaseline } from './check-baseline.ts';

export interface OperationHooks {
  /** A turn is being started. */
  isStarting(): boolean;
  /** The ledger has a result. */
  onNoted(): void;
  /** The machine failed. The ledger has no result, and a later engine tries again. */
  onBroken(error: unknown): void;
}

/** The board of the last call of `ensure`, with all inputs up to `cursor`. */
interface Newest {
  readonly board: Board;
  readonly cursor: number;
}

export interface Operations {
  /** For other work in the folders of the run. */
  readonly ports: OperationPorts;
  /** See the graph's port. */
  ensure(board: Board, cursor: number): void;
  /** See the graph's port. */
  cite(files: CitedFiles): Promise<Cited>;
  /** See the graph's port. */
  lookUp(named: NamedEvidence, attempt: string): Promise<LookUps>;
  /** Resolves when no folder is being removed. None is after that. */
  stop(): Promise<void>;
  /** Ends the check of the base commit, if it still runs: the run or its engine ends, and waits for no result of it. */
  endBaseline(): Promise<void>;
}

/** The engine's own work on tasks. It follows from their phases on the board, so it starts again after a crash. */
export function createOperations(given: OperationPorts, clock: Clock, hooks: OperationHooks): Operations {
  const running = new Set<string>();
  const removal = createFolderRemoval({
    clock,
    run: given.definition.name,
    workspaces: given.workspaces,
    base: given.definition.repository.base,
    isBusy: () => running.size > 0 || hooks.isStarting(),
  });
  const ports: OperationPorts = { ...given, workspaces: removal.workspaces };
  const noted = new Map<string, number>();
  let newest: Newest | undefined;
  const baseline = createBaselineCheck(ports);

  const perform = async (key: string, work: (note: Note) => Promise<unknown>): Promise<void> => {
    try {
      await work((type, ...results) => {
        failpoint('operation.before-note');
        const [first, ...more] = results.map(plainJson);
        const seq = ports.ledger.note(ports.lease, type, first ?? null, ...more);
        noted.set(key, seq + more.length);
        failpoint('operation.noted');
        return seq;
      });
      running.delete(key);
      hooks.onNoted();
    } catch (error) {
      running.delete(key);
      hooks.onBroken(error);
    }
  };

  return {
    ports,
    cite: async (files) => citeFiles(ports, files),
    lookUp: async (named) => lookUp(ports, named),
    stop: async () => removal.stop(),
    endBaseline: async () => baseline.end(),
    ensure: (board, cursor) => {
      newest = { board, cursor };
      const isStill = (task: string, phase: Phase, seq: number): boolean =>
        newest?.board.tasks.get(task)?.work.phase === phase && !hasInputs(ports, newest.cursor, seq);
      // Skips work while inputs wait: an engine that died may have recorded the result, and the next step applies it.
      const due = hasInputs(ports, cursor) ? [] : [...dueOf(ports, board, isStill), ...baseline.due(board)];
      for (const { key, work } of due) {
        if (running.has(key) || (noted.get(key) ?? 0) > cursor) continue;
        running.add(key);
        void perform(key, work);
      }
      removal.look(board);
    },
  };
}

/** Whether the ledger has inputs after the one and before the other, which no board has yet. */
function hasInputs({ ledger, lease }: OperationPorts, after: number, before = Number.POSITIVE_INFINITY): boolean {
  return ledger.events({ stream: lease.runId, after }).some((event) => event.seq < before && isInput(event));
}

/** Whether the task is in the phase on every board up to the input with this seq. */
type IsStill = (task: string, phase: Phase, seq: number) => boolean;

function dueOf(ports: OperationPorts, board: Board, isStill: IsStill): Due[] {
  const ofRun = (key: string, look: () => Promise<PlanNews>): Due => ({
    key,
    work: async (note) => {
      const news = await look();
      note(news.type, news);
    },
  });
  return [
    ...board.tasks.open.flatMap((state): Due[] => {
      const first = operationOf(ports, state, board);
      if (first === undefined) return [];
      return [{ key: state.task.id, work: async (note) => carryOn(ports, { state, board, first }, isStill, note) }];
    }),
    ...(isGateDue(board) ? [ofRun('@gate', async () => checkGate(ports, board))] : []),
    ...(isRestoreDue(board) ? [ofRun('@branch', async () => restoreBranch(ports, board))] : []),
  ];
}

type Operation = () => Promise<WorkEvent>;

/**
 * Does what the task's phase asks for, and then what the next phase asks for, as long as that need not wait for the graph. The
 * graph applies the recorded results later, as if each had been an operation of its own.
 */
async function carryOn(
  ports: OperationPorts,
  { state: { task, work }, board: begun, first }: { state: TaskState; board: Board; first: Operation },
  isStill: IsStill,
  note: Note,
): Promise<void> {
  const record = (events: readonly WorkEvent[]): number =>
    note(RUN_EVENTS.work, ...events.map((event) => ({ task: task.id, event })));
  let board = begun;
  let unrecorded: WorkEvent[] = [];
  let next: Operation | undefined = first;
  let { phase } = work;
  while (next !== undefined) {
    const event = await eventOf(ports, { phase, head: board.branch.head }, next);
    unrecorded.push(event);
    ({ board } = applyWork(board, task.id, event, { seq: board.seq, at: board.now }));
    const state: TaskState | undefined = board.tasks.get(task.id);
    const onward = state === undefined ? 'later' : decideOnward(state.work.phase);
    if (state === undefined || onward === 'later') break;
    if (onward === 'recorded') {
      const seq = record(unrecorded);
      unrecorded = [];
      if (!isStill(task.id, work.phase, seq)) return;
    }
    failpoint('operation.onward');
    ({ phase } = state.work);
    next = operationOf(ports, state, board);
  }
  if (unrecorded.length > 0) record(unrecorded);
}

/** An error thrown while the engine works for a task becomes an event of the task, unless it ends the engine. */
async function eventOf(
  { fault }: OperationPorts,
  { phase, head }: { readonly phase: Phase; readonly head: string },
  operation: Operation,
): Promise<WorkEvent> {
  try {
    return await operation();
  } catch (error) {
    const event = fault === undefined ? undefined : decideFault(phase, await fault(error), head);
    if (event === undefined) throw error;
    return event;
  }
}

function operationOf(ports: OperationPorts, state: TaskState, board: Board): Operation | undefined {
  const { phase } = state.work;
  switch (phase.at) {
    case 'gathering':
      return async () =>
        gatherEvidence(ports, state, {
          ...{ base: decideBase(state.task, board), head: board.branch.head },
          checking: checkingCommands(ports, board),
        });
    case 'integrating':
      return async () => integrateWork(ports, state, phase, board.branch.head);
    case 'verifying':
      return async () => verifyCandidate(ports, state, phase, board);
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

interface BaselineCheck {
  /** The check of the base commit, if the board asks for it. */
  due(board: Board): Due[];
  /** Begins no other check, and resolves once none runs. The next engine repeats what has no result. */
  end(): Promise<void>;
}

/** The one operation that nothing waits for: tasks start without its result, and the end of the run cuts it short. */
function createBaselineCheck(ports: OperationPorts): BaselineCheck {
  const ending = new AbortController();
  let working: Promise<void> | undefined;
  const guarded: OperationPorts = {
    ...ports,
    checks: {
      ...ports.checks,
      run: async (order) => {
        ending.signal.throwIfAborted();
        return ports.checks.run(order);
      },
    },
  };
  const work = async (board: Board, note: Note): Promise<void> => {
    const news = await checkBaseline(guarded, board);
    if (ending.signal.aborted) return;
    note(news.type, news);
    // Anything left there is removed with the run.
    await ports.workspaces.dropBaseline(ports.definition.name).catch(() => undefined);
  };
  return {
    due: (board) => {
      if (ending.signal.aborted || !isBaselineDue(board)) return [];
      return [
        {
          key: '@baseline',
          work: async (note) => {
            working = work(board, note);
            await working;
          },
        },
      ];
    },
    end: async () => {
      ending.abort(new Error('the check of the base commit was cut short'));
      await ports.checks.end(BASELINE, 'the run does not need it any more');
      // "onBroken" has reported it.
      await working?.catch(() => undefined);
    },
  };
}
