import { hasLedger } from '../substrate/ledger/index.ts';
import { probeLock } from '../substrate/ledger/workspace-lock.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { isSquadError } from '../model/errors.ts';
import { RUN_EVENTS } from '../model/run.ts';
import { questionOf } from '../read-model/permission-ask.ts';
import { findRun, isDriven, type LockedBy, type RunReading } from '../read-model/read-run.ts';
import { standingOf } from '../read-model/run-state.ts';
import { readLedger, type OpenedWorkspace } from '../squad/open-run.ts';
import { readPermissionAsks } from '../squad/permission-asks.ts';
import type { Attempt } from '../model/attempt.ts';

/** The run that a thread shows, as the ledger has it: what every answer about it needs. */
export interface Thread {
  readonly run: RunRow;
  /** An engine is at work on it. */
  readonly driven: boolean;
  /** Runs that were forked from it, oldest first. */
  readonly forks: readonly RunRow[];
  /** Its turns that were started and are not settled. */
  readonly live: readonly Attempt[];
}

/** A question as people see it in the state. */
export interface ShownQuestion {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
}

export interface ShownQuestions {
  readonly open: readonly ShownQuestion[];
  /** Nothing of the run can move before one of them is answered. */
  readonly isWaiting: boolean;
}

/** undefined: the thread is no run. */
export function readThread(workspace: OpenedWorkspace, threadId: string): Thread | undefined {
  return lookIn(workspace, (ledger, lockedBy) => {
    const run = ledger.run(threadId);
    if (run?.id !== threadId) return undefined;
    const live = ledger.attempts({ runId: threadId, status: 'spawned' }).filter(({ kind }) => kind === 'turn');
    const forks = ledger.runs().filter(({ parent }) => parent?.runId === threadId);
    return { run, driven: isDriven(ledger.segments(threadId), lockedBy), forks, live };
  });
}

/** Whether the engine that holds the workspace works on a run. */
export function drivesAny(workspace: OpenedWorkspace): boolean {
  return (
    lookIn(workspace, (ledger, lockedBy) => ledger.runs().some(({ id }) => isDriven(ledger.segments(id), lockedBy))) ??
    false
  );
}

/** The whole run, with the seq of its definition. undefined: it was never defined. */
export function readWhole(
  workspace: OpenedWorkspace,
  { run }: Thread,
): { readonly reading: RunReading; readonly inputRef: number } | undefined {
  return lookIn(workspace, (ledger, lockedBy) => {
    const reading = findRun(ledger, run.id, lockedBy);
    const [defined] = ledger.events({ stream: run.id, types: [RUN_EVENTS.defined], limit: 1 });
    return reading === undefined || defined === undefined ? undefined : { reading, inputRef: defined.seq };
  });
}

/** The questions of a run without an answer, and those of agents in the middle of their turns. */
export async function readQuestions(
  workspace: OpenedWorkspace,
  { live }: Thread,
  reading: RunReading,
): Promise<ShownQuestions> {
  const now = workspace.composition.clock.now();
  const asks = await readPermissionAsks({ ...workspace, now, reading }, live);
  const all = [...reading.questions, ...asks.map(questionOf)].filter(({ recorded }) => recorded === null);
  const open = all.map(({ id, text, options }) => ({ id, text, options }));
  return { open, isWaiting: standingOf(reading, now).waitingFor?.for === 'answer' };
}

/** undefined: nothing ever ran here. Brings no older ledger up to date, because a view changes nothing. */
function lookIn<T>(workspace: OpenedWorkspace, read: (ledger: Ledger, lockedBy: LockedBy | null) => T): T | undefined {
  const { directory } = workspace;
  if (!hasLedger(directory)) return undefined;
  // Before the ledger is read, so that an engine that starts in between never looks dead.
  const lockedBy = probeLock(directory);
  try {
    return readLedger(workspace, (ledger) => read(ledger, lockedBy));
  } catch (error) {
    // It was made, and holds nothing yet.
    if (isSquadError(error) && error.code === 'usage') return undefined;
    throw error;
  }
}
