import type { AttemptPorts, Prepared } from './attempts/start-attempt.ts';
import { passedDeadline } from '../rules/deadline.ts';
import type { Board } from '../model/plan/board.ts';
import { readRun } from '../view/read-run.ts';
import { predictBoard } from '../view/replay-plan.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

interface DeadlineFacts {
  readonly ledger: Ledger;
  readonly clock: Pick<Clock, 'now'>;
  readonly runId: string;
  /** The newest board; undefined before the first step. */
  readonly board: () => Board | undefined;
}

type Prepare = NonNullable<AttemptPorts['prepare']>;

/**
 * Refuses a turn that was claimed before the deadline and would start after it, because an engine was gone or `setup` took long.
 * It counts as a turn and for no other limit, and starts once a person lets the run work past the deadline.
 */
export function startsInTime(facts: DeadlineFacts, prepare: Prepare): Prepare {
  return async (attempt, request) => {
    const isNew = attempt.process === null && attempt.kind === 'turn';
    const before = isNew ? refusalOf(facts) : undefined;
    if (before !== undefined) return before;
    const prepared = await prepare(attempt, request);
    return (isNew ? refusalOf(facts) : undefined) ?? prepared;
  };
}

function refusalOf({ ledger, clock, runId, board }: DeadlineFacts): Prepared | undefined {
  const message = passedDeadline(board() ?? boardOnRecord(ledger, runId), clock.now());
  return message === undefined
    ? undefined
    : { type: 'refused', failure: { kind: 'cancelled', message, mayHaveActed: false } };
}

/** With commands that no engine has applied yet. */
function boardOnRecord(ledger: Ledger, runId: string): Board {
  const { board, pendingRequests } = readRun(ledger, runId, null);
  return predictBoard(board, pendingRequests);
}
