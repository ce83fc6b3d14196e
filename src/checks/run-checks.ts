import type { Supervisor } from '../attempts/supervisor.ts';
import { DEFAULT_TURN_LIMITS } from '../model/turn-request.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import {
  isTryOf,
  lastTry,
  newTry,
  requireOrder,
  type CheckOrder,
  type CheckScope,
  type Try,
} from './check-attempts.ts';
import { judgeCheck, type CheckAnswer, type Judgement } from './judge-check.ts';

export type { CheckOrder } from './check-attempts.ts';
export type { CheckAnswer } from './judge-check.ts';

/** For each check and engine. */
const MOST_TRIES = 3;
const PAUSE_MS = 500;

/** Commands of the user or the repository, run by the engine. */
export interface Checks {
  /**
   * Rejects with a SquadError for an order that breaks the rules of `CheckOrder`, and if this engine was fenced. Never resolves
   * after the supervisor has detached: the next engine continues the check.
   */
  run(check: CheckOrder): Promise<CheckAnswer>;
  /** Whether the check with this id has passed, in this engine or an earlier one. */
  passed(id: string): boolean;
  /** The newest attempt of the check with this id; undefined before the first. */
  attemptOf(id: string): string | undefined;
  /** Ends the checks that run; each answers `not-run`. Resolves once all have. */
  cancelAll(reason: string): Promise<void>;
}

export interface CheckPorts {
  readonly ledger: Pick<Ledger, 'attempt' | 'claimCheck' | 'settlement'>;
  /** Must know the runtime `check`. */
  readonly supervisor: Pick<Supervisor, 'ensure' | 'settled' | 'cancel'>;
  readonly clock: Clock;
}

export function createChecks(
  ports: CheckPorts,
  lease: Lease,
  prefix: string,
  maxOutputBytes: number = DEFAULT_TURN_LIMITS.maxOutputBytes,
): Checks {
  const running = new Map<string, { command: string; work: Work; answer: Promise<CheckAnswer> }>();
  const context: Context = { ...ports, lease, scope: { prefix, maxOutputBytes }, tries: new Map() };

  return {
    run: async (order) => {
      requireOrder(context.scope, order);
      const same = running.get(order.id);
      if (same !== undefined) return same.command === order.command ? same.answer : notRun(otherCommand(order));
      const work: Work = { cancelled: new AbortController(), attemptId: undefined };
      const answer = perform(context, order, work).finally(() => running.delete(order.id));
      running.set(order.id, { command: order.command, work, answer });
      return answer;
    },
    passed: (id) => {
      const { attempt } = lastTry(ports.ledger, context.scope, { id });
      const result = attempt === undefined ? undefined : ports.ledger.settlement(attempt.id)?.result;
      const judged = result === undefined ? undefined : judgeCheck(result);
      return judged?.type === 'answer' && judged.answer.passed;
    },
    attemptOf: (id) => lastTry(ports.ledger, context.scope, { id }).attempt?.id,
    cancelAll: async (reason) => {
      const ended = [...running.values()].map(async ({ work, answer }) => {
        work.cancelled.abort(reason);
        if (work.attemptId !== undefined) await ports.supervisor.cancel(work.attemptId, reason);
        await answer;
      });
      // `run` rejects for the same reason, and reports it.
      await Promise.allSettled(ended);
    },
  };
}

interface Context extends CheckPorts {
  readonly lease: Lease;
  readonly scope: CheckScope;
  /** Tries of this engine, by the order's id. */
  readonly tries: Map<string, number>;
}

interface Work {
  readonly cancelled: AbortController;
  attemptId: string | undefined;
}

/** Reads the ledger before each step, so that another engine takes the same step. */
async function perform(context: Context, order: CheckOrder, work: Work): Promise<CheckAnswer> {
  const { signal } = work.cancelled;
  for (let own: Judgement | undefined; ;) {
    const last = lastTry(context.ledger, context.scope, order);
    if (last.attempt !== undefined && !isTryOf(last.attempt, order)) return notRun(otherCommand(order));
    const known = last.attempt?.status === 'settled' ? judgementOf(context, last.attempt.id) : undefined;
    if (known?.type === 'answer') return known.answer;
    if (signal.aborted) return notRun(String(signal.reason));
    if (own?.type === 'nothing' && !own.again) return notRun(own.why);
    const used = context.tries.get(order.id) ?? 0;
    if (known !== undefined && used >= MOST_TRIES) return notRun(`${known.why} (after ${used} tries)`);
    if (own !== undefined) await context.clock.sleep(PAUSE_MS * used, signal);
    if (signal.aborted) continue;
    context.tries.set(order.id, used + 1);
    work.attemptId = startTry(context, order, last);
    await context.supervisor.settled(work.attemptId);
    own = judgementOf(context, work.attemptId);
  }
}

/** Continues the try of an earlier engine, or starts the next one. */
function startTry({ ledger, supervisor, lease, scope }: Context, order: CheckOrder, last: Try): string {
  if (last.attempt !== undefined && last.attempt.status !== 'settled') {
    supervisor.ensure(last.attempt.id);
    return last.attempt.id;
  }
  const attempt = newTry(scope, order, last.number + 1);
  ledger.claimCheck(lease, attempt);
  supervisor.ensure(attempt.id);
  return attempt.id;
}

function judgementOf({ ledger }: Context, attemptId: string): Judgement {
  const settlement = ledger.settlement(attemptId);
  if (settlement === undefined) throw new Error(`${attemptId} has ended without a settlement`);
  return judgeCheck(settlement.result);
}

function notRun(output: string): CheckAnswer {
  return { passed: false, why: 'not-run', output };
}

function otherCommand({ id }: CheckOrder): string {
  return `check ${id} ran another command before; give a changed command a new id`;
}
