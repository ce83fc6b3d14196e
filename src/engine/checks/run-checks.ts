import type { Supervisor } from '../attempts/supervisor.ts';
import type { Attempt } from '../../model/attempt.ts';
import { badInput } from '../../model/errors.ts';
import { DEFAULT_TURN_LIMITS, turnRequestSchema, type TurnRequest, type Workspace } from '../../model/turn-request.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Lease, Ledger, NewAttempt } from '../../substrate/ports/ledger.ts';
import { CHECK_RUNTIME } from './command-adapter.ts';
import { judgeCheck, type CheckAnswer, type Judgement } from './judge-check.ts';

export type { CheckAnswer } from './judge-check.ts';

export interface CheckOrder {
  /**
   * Names what is checked, such as `verify-<commit12>-1`. Once the command has ended by itself or at its limit, this id always
   * gives that answer. At most 64 lower-case letters, digits and dashes, without the ending of a try (`-r2`).
   */
  readonly id: string;
  readonly task: string;
  /** One line for `/bin/sh -c`, which a person has agreed to. */
  readonly command: string;
  /** Makes its folder ready, before each try that begins. A try that an earlier engine began continues where it is. */
  readonly workspace: () => Promise<Workspace>;
  readonly wallMs: number;
  /** Variables that it gets besides those of all commands of the run. */
  readonly env?: readonly string[] | undefined;
  readonly purpose: 'setup' | 'evidence' | 'verify';
}

/** For each check and engine. */
const MOST_TRIES = 3;
const PAUSE_MS = 500;

/** Commands of the user or the repository, run by the engine. */
export interface Checks {
  /**
   * Rejects with a SquadError for an order that breaks the rules of `CheckOrder`, and if this engine was fenced; and with the error
   * of its workspace. Never resolves after the supervisor has detached: the next engine continues the check.
   */
  run(check: CheckOrder): Promise<CheckAnswer>;
  /** Whether the check with this id has passed, in this engine or an earlier one. */
  passed(id: string): boolean;
  /** Whether a try of it has begun, in this engine or an earlier one, and has no result yet. */
  lives(id: string): boolean;
  /** The newest attempt of the check with this id; undefined before the first. */
  attemptOf(id: string): string | undefined;
  /** Ends the checks of this task, also those that an earlier engine left running; each answers `not-run`. */
  end(task: string, reason: string): Promise<void>;
  /** Ends the checks that run; each answers `not-run`. Resolves once all have. */
  cancelAll(reason: string): Promise<void>;
}

interface CheckPorts {
  readonly ledger: Pick<Ledger, 'attempt' | 'attempts' | 'claimCheck' | 'settlement'>;
  /** Must know the runtime `check`. */
  readonly supervisor: Pick<Supervisor, 'ensure' | 'settled' | 'cancel'>;
  readonly clock: Clock;
  /** Names of variables that each command gets. Absent: none. */
  readonly variables?: readonly string[] | undefined;
}

export function createChecks(
  ports: CheckPorts,
  lease: Lease,
  prefix: string,
  maxOutputBytes: number = DEFAULT_TURN_LIMITS.maxOutputBytes,
): Checks {
  const running = new Map<string, Running>();
  const context: Context = { ...ports, lease, prefix, maxOutputBytes, tries: new Map() };

  return {
    run: async (order) => {
      requireOrder(context, order);
      const same = running.get(order.id);
      if (same !== undefined) return same.command === order.command ? same.answer : notRun(otherCommand(order));
      const work: Work = { cancelled: new AbortController(), attemptId: undefined };
      const answer = perform(context, order, work).finally(() => running.delete(order.id));
      running.set(order.id, { task: order.task, command: order.command, work, answer });
      return answer;
    },
    passed: (id) => {
      const { attempt } = lastTry(context, { id });
      const result = attempt === undefined ? undefined : ports.ledger.settlement(attempt.id)?.result;
      const judged = result === undefined ? undefined : judgeCheck(result);
      return judged?.type === 'answer' && judged.answer.passed;
    },
    lives: (id) => {
      const { attempt } = lastTry(context, { id });
      return attempt !== undefined && attempt.status !== 'settled';
    },
    attemptOf: (id) => lastTry(context, { id }).attempt?.id,
    end: async (task, reason) => {
      await cancelRunning(
        ports,
        [...running.values()].filter((one) => one.task === task),
        reason,
      );
      const left = ports.ledger.attempts({ runId: lease.runId, taskId: taskIdOf({ task }) });
      for (const { id, status } of left) {
        if (status === 'settled') continue;
        ports.supervisor.ensure(id);
        await ports.supervisor.cancel(id, reason);
      }
    },
    cancelAll: async (reason) => cancelRunning(ports, [...running.values()], reason),
  };
}

interface Running {
  readonly task: string;
  readonly command: string;
  readonly work: Work;
  readonly answer: Promise<CheckAnswer>;
}

async function cancelRunning(
  { supervisor }: Pick<CheckPorts, 'supervisor'>,
  running: readonly Running[],
  reason: string,
): Promise<void> {
  const ended = running.map(async ({ work, answer }) => {
    work.cancelled.abort(reason);
    if (work.attemptId !== undefined) await supervisor.cancel(work.attemptId, reason);
    await answer;
  });
  // `run` rejects for the same reason, and reports it.
  await Promise.allSettled(ended);
}

/** An id of its own, so that no limit of the task counts it. */
function taskIdOf({ task }: Pick<CheckOrder, 'task'>): string {
  return `check:${task}`;
}

interface Context extends CheckPorts {
  readonly lease: Lease;
  /** Prefix of the ids of the run's attempts. */
  readonly prefix: string;
  readonly maxOutputBytes: number;
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
    const last = lastTry(context, order);
    if (last.attempt !== undefined && !isTryOf(last.attempt, order)) return notRun(otherCommand(order));
    const known = last.attempt?.status === 'settled' ? judgementOf(context, last.attempt.id) : undefined;
    if (known?.type === 'answer') return known.answer;
    if (signal.aborted) return notRun(String(signal.reason));
    if (own?.type === 'nothing' && !own.again) return notRun(own.why);
    const used = context.tries.get(order.id) ?? 0;
    if (known !== undefined && used >= MOST_TRIES) return notRun(`${known.why} (after ${used} tries)`);
    if (own !== undefined) await context.clock.sleep(PAUSE_MS * used, signal);
    if (signal.aborted) continue;
    const next = await prepareTry(context, order, last);
    if (signal.aborted) continue;
    context.tries.set(order.id, used + 1);
    work.attemptId = next();
    context.supervisor.ensure(work.attemptId);
    await context.supervisor.settled(work.attemptId);
    own = judgementOf(context, work.attemptId);
  }
}

/** Makes the folder ready. What it returns claims the next try, or names that of an earlier engine. */
async function prepareTry(context: Context, order: CheckOrder, last: Try): Promise<() => string> {
  const { attempt } = last;
  if (attempt !== undefined && attempt.status !== 'settled') {
    // One that was only claimed starts in the folder as it is now.
    if (attempt.process === null) await order.workspace();
    return () => attempt.id;
  }
  const begun = newTry(context, order, last.number + 1, await order.workspace());
  return () => {
    context.ledger.claimCheck(context.lease, begun);
    return begun.id;
  };
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

/** One attempt of a check: `<prefix>.<id>`; after a try without a result `<prefix>.<id>-r2`, `-r3` and so on. */
interface Try {
  /** 0: there is none. */
  readonly number: number;
  readonly attempt: Attempt | undefined;
}

function lastTry(context: Context, order: Pick<CheckOrder, 'id'>): Try {
  let last: Try = { number: 0, attempt: undefined };
  for (;;) {
    const number = last.number + 1;
    const attempt = context.ledger.attempt(tryId(context, order, number));
    if (attempt === undefined) return last;
    last = { number, attempt };
  }
}

function newTry(context: Context, order: CheckOrder, number: number, workspace: Workspace): NewAttempt {
  const id = tryId(context, order, number);
  return {
    id,
    taskId: taskIdOf(order),
    kind: 'check',
    agent: `squad-${order.purpose}`,
    runtime: CHECK_RUNTIME,
    request: JSON.stringify(requestOf(id, context, order, workspace)),
  };
}

/** Whether the attempt ran this command: the plan may have changed, and the answer of another command is no evidence. */
function isTryOf(attempt: Attempt, order: CheckOrder): boolean {
  if (attempt.kind !== 'check') return false;
  const request = turnRequestSchema.safeParse(JSON.parse(attempt.request)).data;
  return request?.prompt === order.command;
}

/** Throws before the claim, because an attempt with an unreadable request could never be settled. */
function requireOrder(context: Context, order: CheckOrder): void {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(order.id) || /-r\d+$/.test(order.id)) {
    throw badInput(`${JSON.stringify(order.id.slice(0, 80))} cannot name a check`);
  }
  const issue = turnRequestSchema.safeParse(requestOf(order.id, context, order, { path: '/' })).error?.issues[0];
  if (issue !== undefined) throw badInput(`check ${order.id}: ${issue.path.join('.')}: ${issue.message}`);
}

function tryId({ prefix }: Context, { id }: Pick<CheckOrder, 'id'>, number: number): string {
  return number === 1 ? `${prefix}.${id}` : `${prefix}.${id}-r${number}`;
}

function requestOf(
  turnId: string,
  { maxOutputBytes, variables = [] }: Context,
  order: CheckOrder,
  workspace: Workspace,
): TurnRequest {
  const { wallMs, env = [] } = order;
  const environment = [...new Set([...variables, ...env])];
  return {
    turnId,
    workspace,
    prompt: order.command,
    instructions: '',
    access: { level: 'edit' },
    mcp: [],
    ...(environment.length === 0 ? {} : { environment }),
    // A build may be silent: only its time limit counts.
    limits: { wallMs, idleMs: wallMs * 2, retryMs: wallMs, maxOutputBytes },
  };
}
