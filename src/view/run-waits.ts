import type { LedgerEvent } from '../model/ledger-event.ts';
import { decidedSchema, RUN_EVENTS } from '../model/run.ts';
import { readEvent } from './replay-plan.ts';

/** A time in which a run waited for a time or a person, or was stopped. */
export interface RunWait {
  readonly for: 'time' | 'answer' | 'resume';
  readonly why: string;
  readonly from: number;
  readonly until: number | null;
}

/** `decisions`: of the run, and where an engine took it up again, oldest first. */
export function waitsOf(decisions: readonly LedgerEvent[]): RunWait[] {
  return decisions.flatMap((event, index): RunWait[] => {
    if (event.type !== RUN_EVENTS.decided) return [];
    const { next, why, until } = readEvent(event, decidedSchema);
    const reason = next === 'wait' && until !== undefined ? 'time' : WAITS[next];
    return reason === undefined ? [] : [{ for: reason, why, from: event.at, until: decisions[index + 1]?.at ?? null }];
  });
}

const WAITS: Readonly<Record<string, RunWait['for']>> = { ask: 'answer', stop: 'resume' };
