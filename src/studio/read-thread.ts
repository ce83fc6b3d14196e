import { join } from 'node:path';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { RUN_EVENTS } from '../model/run.ts';
import type { AskedQuestion } from '../model/plan/asked-question.ts';
import { askedQuestion } from '../view/asked-plan.ts';
import { questionOf } from '../view/permission-ask.ts';
import { isDriven, type LockedBy } from '../view/driven.ts';
import { findRun, type RunReading } from '../view/read-run.ts';
import type { RunView } from '../view/run-view.ts';
import { endOf } from '../view/running-run.ts';
import { viewOf } from '../view/view-of.ts';
import { lookIn, type OpenedWorkspace } from '../squad/open-workspace.ts';
import { readPermissionAsks } from '../squad/permission-asks.ts';
import type { Attempt } from '../model/attempt.ts';
import { messagesOf, type ChatMessage } from './conversation.ts';

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

/** Costs reading the whole run, unlike `Thread`. */
export interface ThreadStanding {
  readonly view: RunView;
  /** The questions of the run without an answer, and those of agents in the middle of their turns. */
  readonly open: readonly AskedQuestion[];
  readonly messages: readonly ChatMessage[];
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

/** The whole run, with the seq of its definition. */
interface WholeRun {
  readonly reading: RunReading;
  readonly inputRef: number;
}

/** Whole runs that were read last, with their marks. A client asks for the same state again and again. */
const kept = new WeakMap<OpenedWorkspace, Map<string, { readonly mark: string; readonly whole: WholeRun }>>();
const MOST_KEPT = 8;

/** undefined: it was never defined. Reads it again only after something was recorded of it. */
export function readWhole(workspace: OpenedWorkspace, { run }: Thread): WholeRun | undefined {
  const runs = kept.get(workspace) ?? new Map<string, { readonly mark: string; readonly whole: WholeRun }>();
  kept.set(workspace, runs);
  return lookIn(workspace, (ledger, lockedBy) => {
    const { mark } = markOf(ledger, run.id, lockedBy);
    const known = runs.get(run.id);
    const whole = known?.mark === mark ? known.whole : readWholeIn(ledger, run.id, lockedBy);
    runs.delete(run.id);
    if (whole !== undefined) runs.set(run.id, { mark, whole });
    for (const oldest of [...runs.keys()].slice(0, -MOST_KEPT)) runs.delete(oldest);
    return whole;
  });
}

function readWholeIn(ledger: Ledger, id: string, lockedBy: LockedBy | null): WholeRun | undefined {
  const reading = findRun(ledger, id, lockedBy);
  const [defined] = ledger.events({ stream: id, types: [RUN_EVENTS.defined], limit: 1 });
  return reading === undefined || defined === undefined ? undefined : { reading, inputRef: defined.seq };
}

/** Another one after each record of the run and each change of its engine. */
export function markOf(ledger: Ledger, id: string, lockedBy: LockedBy | null) {
  const segments = ledger.segments(id);
  const driven = isDriven(segments, lockedBy);
  const last = ledger.lastSeq(id);
  const applied = ledger.run(id)?.applied;
  return { driven, last, mark: `${last} ${applied} ${driven} ${segments.length} ${segments.at(-1)?.releasedAt}` };
}

export async function readStanding(
  workspace: OpenedWorkspace,
  { live }: Pick<Thread, 'live'>,
  reading: RunReading,
): Promise<ThreadStanding> {
  const now = workspace.composition.clock.now();
  const asks = await readPermissionAsks({ ...workspace, now, reading }, live);
  const view = viewOf({ ...reading, attempts: [] }, { now, asks });
  const open = [...view.questions, ...asks.map((ask) => askedQuestion(reading, questionOf(ask)))];
  return { view, open, messages: messagesOf(reading, open, reportedEnd(workspace, view)) };
}

/** The end of a run as a conversation has it: what the ledger knows. undefined: it is not over. */
function reportedEnd({ directory }: OpenedWorkspace, view: RunView) {
  if (view.end === null) return undefined;
  const { runId, name } = view.run;
  const end = endOf(view, join(directory, 'runs', runId, 'report.md'));
  return { ...end, failures: [], next: [`squad report ${name}`] };
}
