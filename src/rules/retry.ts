import type { Failure, FailureKind } from '../model/failure.ts';
import type { LockOutKind } from '../model/plan/lock-out.ts';
import type { Cause } from '../model/plan/task.ts';
import type { Used } from '../model/plan/work.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** Longest wait for a limit without a known reset. */
const LONGEST_WAIT = 60 * MINUTE;
/** Longest wait for a reset that an agent's text named. */
const LONGEST_BELIEVED = 8 * 24 * 60 * MINUTE;

export interface RetryCaps {
  readonly retries: number;
  readonly infrastructure: number;
  readonly transient: number;
  readonly repairs: number;
}

export type Retry =
  /** `burns`: the budget that it counts against. */
  | {
      readonly do: 'retry';
      readonly at: number;
      readonly session: 'same' | 'new';
      readonly prompt: 'same' | 'continue' | 'repair';
      readonly burns: 'retries' | 'infrastructure' | 'transient' | 'repairs' | 'nothing';
    }
  /** A usage limit: all turns on the account wait, and no budget is used. */
  | { readonly do: 'wait-for-account'; readonly until: number }
  /** A person has to help, and until then a stand-in can. */
  | { readonly do: 'lock-out'; readonly kind: LockOutKind }
  | { readonly do: 'ask' }
  | { readonly do: 'fail'; readonly cause: Cause };

type Attempted = Extract<Retry, { do: 'retry' }>;

/** The answer to a kind of failure, or how to make it. */
type Rule =
  | Exclude<Retry, { do: 'retry' } | { do: 'wait-for-account' }>
  /** `first`: the wait for a limit without a known reset, which doubles each time (ms). */
  | { readonly do: 'wait-for-account'; readonly first: number }
  /** `delay`: before the next attempt, doubling with each retry; absent: none. `cause`: once the budget is used up. */
  | {
      readonly do: 'retry';
      readonly burns: Attempted['burns'];
      readonly delay?: number;
      readonly session?: 'new';
      readonly cause?: Cause;
    };

const FAIL: Rule = { do: 'fail', cause: 'attempts' };
const AT_LIMIT: Rule = { do: 'wait-for-account', first: MINUTE };
const UNREACHABLE: Rule = { do: 'retry', burns: 'transient', delay: 5 * SECOND };
const BROKEN_TURN: Rule = { do: 'retry', burns: 'retries', delay: 5 * SECOND };
const AT_TURN_LIMIT: Rule = { do: 'retry', burns: 'retries', cause: 'limit' };
const SESSION_LOST: Rule = { do: 'retry', burns: 'infrastructure', session: 'new' };
const PROCESS_LOST: Rule = { do: 'retry', burns: 'infrastructure', delay: SECOND };

const RULES: Readonly<Record<FailureKind, Rule>> = {
  'rate-limited': AT_LIMIT,
  overloaded: AT_LIMIT,
  'quota-exhausted': { do: 'wait-for-account', first: 15 * MINUTE },
  'server-error': UNREACHABLE,
  network: UNREACHABLE,
  auth: { do: 'lock-out', kind: 'auth' },
  billing: { do: 'lock-out', kind: 'billing' },
  'cli-missing': { do: 'lock-out', kind: 'cli-missing' },
  'cli-unsupported': { do: 'lock-out', kind: 'cli-unsupported' },
  'sandbox-unavailable': { do: 'lock-out', kind: 'sandbox-unavailable' },
  'setting-unsupported': { do: 'lock-out', kind: 'setting-unsupported' },
  'setup-failed': { do: 'ask' },
  'model-unavailable': { do: 'lock-out', kind: 'model-unavailable' },
  stalled: BROKEN_TURN,
  'mcp-unavailable': BROKEN_TURN,
  'hook-failed': BROKEN_TURN,
  protocol: BROKEN_TURN,
  'output-truncated': { do: 'retry', burns: 'retries' },
  'context-overflow': { do: 'retry', burns: 'retries', session: 'new' },
  'step-limit': AT_TURN_LIMIT,
  'cost-limit': AT_TURN_LIMIT,
  'wall-timeout': AT_TURN_LIMIT,
  'output-flood': AT_TURN_LIMIT,
  'bad-output': { do: 'retry', burns: 'repairs', cause: 'bad-output' },
  'model-refused': FAIL,
  'bad-request': FAIL,
  'not-stopped': FAIL,
  'session-not-found': SESSION_LOST,
  'instructions-changed': SESSION_LOST,
  'session-busy': { do: 'retry', burns: 'infrastructure', delay: 30 * SECOND },
  crashed: PROCESS_LOST,
  'never-started': PROCESS_LOST,
  lost: PROCESS_LOST,
  // The engine was stopped, or a person ended the turn. The run continues where it was.
  cancelled: { do: 'retry', burns: 'nothing' },
};

/**
 * Decides after an attempt that did not complete. `seed`: unique per attempt, so that attempts that failed together are not retried
 * together.
 */
export function decideRetry(failure: Failure, used: Used, caps: RetryCaps, now: number, seed: string): Retry {
  const rule = RULES[failure.kind];
  if (rule.do === 'wait-for-account') return { do: rule.do, until: limitedUntil(failure, used, now, rule.first) };
  if (rule.do !== 'retry') return rule;
  const { burns, delay = 0, session = 'same', cause = 'attempts' } = rule;
  const before = burns === 'nothing' ? 0 : used[burns];
  if (burns !== 'nothing' && before >= caps[burns]) return { do: 'fail', cause };
  // Another process will release a busy session, so its wait does not grow.
  const wait = failure.kind === 'session-busy' ? jittered(delay, seed) : backoff(before, delay, seed);
  const next = failure.mayHaveActed ? 'continue' : 'same';
  return { do: 'retry', at: now + wait, session, prompt: burns === 'repairs' ? 'repair' : next, burns };
}

/** Doubles from `initial` up to 15 minutes, ±20 % by seed. */
export function backoff(before: number, initial: number, seed: string): number {
  return jittered(Math.min(initial * 2 ** Math.min(before, 20), 15 * MINUTE), seed);
}

/** Deterministic by seed, because the board is folded repeatedly. */
function jittered(delay: number, seed: string): number {
  return Math.round(delay * (0.8 + 0.4 * fractionOf(seed)));
}

/** FNV-1a mapped to 0–1, mixed so that the last characters count as much as the first. */
function fractionOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

function limitedUntil(failure: Failure, used: Used, now: number, initial: number): number {
  if (failure.retryAt !== undefined && failure.retryAt > now) return Math.min(failure.retryAt, now + LONGEST_BELIEVED);
  // The reset has passed by this clock.
  const first = failure.retryAt === undefined ? initial : Math.min(initial, MINUTE);
  return now + Math.min(first * 2 ** Math.min(used.waits, 20), LONGEST_WAIT);
}
