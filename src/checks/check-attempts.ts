import type { Attempt } from '../model/attempt.ts';
import { SquadError } from '../model/errors.ts';
import { turnRequestSchema, type TurnRequest, type Workspace } from '../model/turn-request.ts';
import type { Ledger, NewAttempt } from '../substrate/ports/ledger.ts';
import { CHECK_RUNTIME } from './command-adapter.ts';

export interface CheckOrder {
  /**
   * Names what is checked, such as `verify-<commit12>-1`. Once the command has ended by itself or at its limit, this id always
   * gives that answer. At most 64 lower-case letters, digits and dashes, without the ending of a try (`-r2`).
   */
  readonly id: string;
  readonly task: string;
  /** One line for `/bin/sh -c`, which a person has agreed to. */
  readonly command: string;
  readonly workspace: Workspace;
  readonly wallMs: number;
  readonly purpose: 'setup' | 'evidence' | 'verify';
}

/** What all checks of a run share. */
export interface CheckScope {
  /** What the ids of the run's attempts begin with. */
  readonly prefix: string;
  readonly maxOutputBytes: number;
}

/** One attempt of a check: `<prefix>.<id>`; after a try without a result `<prefix>.<id>-r2`, `-r3` and so on. */
export interface Try {
  /** 0: there is none. */
  readonly number: number;
  readonly attempt: Attempt | undefined;
}

export function lastTry(ledger: Pick<Ledger, 'attempt'>, scope: CheckScope, order: Pick<CheckOrder, 'id'>): Try {
  let last: Try = { number: 0, attempt: undefined };
  for (;;) {
    const number = last.number + 1;
    const attempt = ledger.attempt(tryId(scope, order, number));
    if (attempt === undefined) return last;
    last = { number, attempt };
  }
}

export function newTry(scope: CheckScope, order: CheckOrder, number: number): NewAttempt {
  const id = tryId(scope, order, number);
  return {
    id,
    // A task id of its own, so that no limit of the task counts it.
    taskId: `check:${order.task}`,
    kind: 'check',
    agent: `squad-${order.purpose}`,
    runtime: CHECK_RUNTIME,
    request: JSON.stringify(requestOf(id, scope, order)),
  };
}

/** Whether the attempt ran this command: the plan may have changed, and the answer of another command is no evidence. */
export function isTryOf(attempt: Attempt, order: CheckOrder): boolean {
  if (attempt.kind !== 'check') return false;
  const request = turnRequestSchema.safeParse(JSON.parse(attempt.request)).data;
  return request?.prompt === order.command;
}

/** Throws before the claim, because an attempt with an unreadable request could never be settled. */
export function requireOrder(scope: CheckScope, order: CheckOrder): void {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(order.id) || /-r\d+$/.test(order.id)) {
    throw badOrder(`${JSON.stringify(order.id.slice(0, 80))} cannot name a check`);
  }
  const issue = turnRequestSchema.safeParse(requestOf(order.id, scope, order)).error?.issues[0];
  if (issue !== undefined) throw badOrder(`check ${order.id}: ${issue.path.join('.')}: ${issue.message}`);
}

function tryId({ prefix }: CheckScope, { id }: Pick<CheckOrder, 'id'>, number: number): string {
  return number === 1 ? `${prefix}.${id}` : `${prefix}.${id}-r${number}`;
}

function requestOf(turnId: string, { maxOutputBytes }: CheckScope, order: CheckOrder): TurnRequest {
  const { wallMs } = order;
  return {
    turnId,
    workspace: order.workspace,
    prompt: order.command,
    instructions: '',
    access: { level: 'edit' },
    mcp: [],
    // A build may be silent: only its time limit counts.
    limits: { wallMs, idleMs: wallMs * 2, retryMs: wallMs, maxOutputBytes },
  };
}

function badOrder(message: string): SquadError {
  return new SquadError({ code: 'bad-input', message });
}
