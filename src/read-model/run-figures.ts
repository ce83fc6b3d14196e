import { decidedSchema, RUN_EVENTS, type ReviewCount } from '../model/run.ts';
import { hasEnded } from '../model/run-state.ts';
import type { LeaseSegment, Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { isDriven } from './read-run.ts';
import { readEvent } from './replay-plan.ts';
import { findView, type RunSummary } from './run-summary.ts';
import type { UsageCount } from './usage-count.ts';

/** What statistics count of one run. */
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
