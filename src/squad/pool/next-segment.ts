import type { PoolRelease } from '../../substrate/ports/pool.ts';
import { WHOLE_RUN } from '../../model/plan/scope.ts';
import { predictBoard } from '../../view/replay-plan.ts';
import { standingOf } from '../../view/run-state.ts';
import { isSwept, unfinishedOf, type Unfinished } from '../../view/unfinished.ts';
import { isUnstarted, type RunReading } from '../../view/read-run.ts';

/** The needs of a run that no engine drives. */
export interface RunNeed {
  /** undefined: it is over. */
  readonly need: Unfinished['need'] | undefined;
  /** For people. */
  readonly why: string;
  /** Epoch ms; when it can continue by itself. */
  readonly until?: number;
  /** It was only handed from one worker to the next, or is a fork that a person has put into the pool. */
  readonly isHandedOn: boolean;
}

export function needOf(reading: RunReading, now: number): RunNeed {
  const { conclusion, waitingFor } = standingOf(reading, now);
  const found = unfinishedOf(reading, now);
  const pause = predictBoard(reading.board, reading.pendingRequests).pauses.get(WHOLE_RUN);
  return {
    need: found?.need,
    why: found?.why ?? conclusion?.headline ?? 'it is over',
    ...(waitingFor?.for === 'time' ? { until: waitingFor.until } : {}),
    // Only a worker drains a run of a pool.
    isHandedOn: pause === undefined ? isUnstarted(reading) : pause.verb === 'drain',
  };
}

/** Whether an engine can do something for the run now, or how it is given back. `began`: one has just ended its work on it. */
export function nextSegment(
  { need, why, until, isHandedOn }: RunNeed,
  { now, began }: { readonly now: number; readonly began: boolean },
): 'work' | PoolRelease {
  if (need === undefined) return { state: 'over', why };
  const isReady = isSwept({ need }) || (need === 'held' && isHandedOn);
  if (isReady) return began ? { state: 'queued', why: null } : 'work';
  if (need === 'waits' && until !== undefined) return until <= now ? 'work' : { state: 'waiting', why, again: until };
  return { state: 'waiting', why };
}
