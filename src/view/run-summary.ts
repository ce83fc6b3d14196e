import type { z } from 'zod';
import type { Playbooks } from '../model/plan.ts';
import { hasStages, tasksToCome } from '../playbooks/stages/stage-views.ts';
import type { ReviewCount } from '../model/rejection.ts';
import { decidedSchema, RUN_EVENTS } from '../model/run.ts';
import { hasEnded, type RunState } from '../model/run-state.ts';
import type { LeaseSegment, Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { endedPart, endedView, shortViewSchema } from './ended-view.ts';
import { isDriven, type LockedBy } from './driven.ts';
import { withBefore } from './queue-rules.ts';
import { findRun, type ForkParent } from './read-run.ts';
import { readEvent } from './replay-plan.ts';
import type { RunView } from './run-view.ts';
import { stillQueued, type Unfinished } from './unfinished.ts';
import { untouchedRun } from './untouched-run.ts';
import { totalsOf, usageCountOf, type UsageCount } from './usage-count.ts';
import { viewOf } from './view-of.ts';

/** A run of this repository. */
export interface RunSummary {
  readonly runId: string;
  readonly name: string;
  /** The run that this one is a fork of; null: it is no fork. */
  readonly parent: ForkParent | null;
  /** Title of its objective. */
  readonly objective: string;
  /** Path of its objective, as it was given. */
  readonly source: string;
  readonly playbook: string;
  /** Epoch ms. */
  readonly createdAt: number;
  /** Epoch ms; null: its objective has none. */
  readonly deadline: number | null;
  readonly state: RunState;
  /** The result in one line; null: it is not over. */
  readonly headline: string | null;
  readonly tasks: { readonly all: number; readonly done: number };
  /** Where it is, or ended; null: its playbook has no stages. */
  readonly stage: { readonly id: string; readonly place: number; readonly of: number } | null;
  /** Engine time over all segments, in ms. */
  readonly elapsedMs: number;
  readonly usage: UsageCount['usage'];
  /** Need of a run that has to continue, in one word; null: it is over. */
  readonly need: Unfinished['need'] | null;
  /** `need` in a few words; null: it is over. */
  readonly why: string | null;
}

/** One run for a list of them; undefined: it was never defined. */
export function summarizeRun(...of: Parameters<typeof findView>): RunSummary | undefined {
  const [ledger, row] = of;
  const view = endedPart(ledger, row, shortViewSchema);
  if (view !== undefined) return summaryOf(view);
  const queued = queuedSummary(...of);
  const found = queued === undefined ? findView(...of) : undefined;
  return queued ?? (found && summaryOf(found));
}

/** The row of a run of the queue to which nothing has happened yet. undefined: the plan has to be folded. */
function queuedSummary(...[ledger, row, , , playbooks = {}]: Parameters<typeof findView>): RunSummary | undefined {
  const untouched = untouchedRun(ledger, row.id);
  if (untouched === undefined) return undefined;
  const { objective, source, playbook, options } = untouched;
  if (Object.hasOwn(playbooks, playbook) || hasStages(options)) return undefined;
  const { need, why } = withBefore(ledger, stillQueued(row, untouched), untouched.submitted);
  const all = tasksToCome({ facts: { options }, records: new Map() });
  return {
    ...{ runId: row.id, name: row.name, parent: null, objective: objective.title, source, playbook },
    ...{ createdAt: row.createdAt, deadline: objective.deadline ?? null, state: 'queued', headline: null },
    ...{ tasks: { all, done: 0 }, stage: null, elapsedMs: 0, usage: usageCountOf(totalsOf([])).usage, need, why },
  };
}

function summaryOf({ run, plan, use, end }: z.infer<typeof shortViewSchema>): RunSummary {
  const { runId, name, parent, objective, source, playbook, startedAt: createdAt, deadline, state, need } = run;
  const { tasks, stage } = plan;
  return {
    ...{ runId, name, parent, objective, source, playbook, createdAt, deadline, state, tasks, stage },
    ...{ headline: end?.headline ?? null, elapsedMs: use.elapsedMs, usage: use.usage },
    ...{ need: need?.need ?? null, why: need?.why ?? null },
  };
}

/** Folds the plan only of a run that is not over. undefined: it was never defined. */
export function findView(
  ledger: Ledger,
  row: RunRow,
  lockedBy: LockedBy | null,
  now: number,
  playbooks: Playbooks = {},
): RunView | undefined {
  const ended = endedView(ledger, row);
  if (ended !== undefined) return ended;
  const reading = findRun(ledger, row.id, lockedBy, playbooks);
  return reading && viewOf({ ...reading, attempts: [] }, { now });
}

/** Counted by statistics, one for each run. */
export interface RunFigures extends Pick<RunSummary, 'playbook' | 'state' | 'elapsedMs' | 'usage'> {
  /** From its start to its end by the clock; null: it is not over. */
  readonly wallMs: number | null;
  readonly turns: UsageCount['turns'];
  readonly reviews: readonly ReviewCount[];
  /** An engine left it before its end although nothing made it wait: it was killed, or a person ended or drained it. */
  readonly interrupted: boolean;
}

/** undefined: the run was never defined. */
export function readFigures(...[ledger, row, lockedBy, ...of]: Parameters<typeof findView>): RunFigures | undefined {
  const view = findView(ledger, row, lockedBy, ...of);
  if (view === undefined) return undefined;
  const { run, plan, turns, use } = view;
  const { playbook, state, startedAt } = run;
  const segments = ledger.segments(row.id);
  const endedAt = hasEnded(state) ? (segments.at(-1)?.releasedAt ?? null) : null;
  return {
    ...{ playbook, state, turns, elapsedMs: use.elapsedMs, usage: use.usage },
    wallMs: endedAt === null ? null : Math.max(0, endedAt - startedAt),
    reviews: plan.reviews,
    interrupted: wasInterrupted(ledger, row, isDriven(segments, lockedBy) ? segments.slice(0, -1) : segments),
  };
}

/** `left`: the segments that are over. */
function wasInterrupted(ledger: Ledger, { id }: RunRow, left: readonly LeaseSegment[]): boolean {
  if (left.some(({ releasedAt }) => releasedAt === null)) return true;
  const events = ledger.events({ stream: id, types: [RUN_EVENTS.decided] });
  const last = new Map(events.map((event) => [event.epoch, event]));
  return left.some(({ epoch }) => {
    const event = last.get(epoch);
    if (event === undefined) return true;
    const { next, because } = readEvent(event, decidedSchema);
    // A run that waits, is at a limit or asks ends its segment itself.
    return next === 'start' || next === 'wait' || because === 'drained';
  });
}
