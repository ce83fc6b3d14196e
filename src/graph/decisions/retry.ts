import { assertNever } from '../../model/assert-never.ts';
import type { Failure } from '../../model/failure.ts';
import type { Cause } from '../../model/plan/task.ts';
import type { Used } from '../../model/plan/work.ts';

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
  /** A person has to fix the account's login or payment. */
  | { readonly do: 'lock-out'; readonly kind: 'auth' | 'billing' }
  | { readonly do: 'ask' }
  | { readonly do: 'fail'; readonly cause: Cause };

type Burn = Exclude<Extract<Retry, { do: 'retry' }>['burns'], 'nothing'>;

/**
 * What follows an attempt that did not complete. `seed`: unique per attempt, so that attempts that failed together are not
 * retried together.
 */
export function decideRetry(failure: Failure, used: Used, caps: RetryCaps, now: number, seed: string): Retry {
  const again = (burns: Burn, delay: number, more?: { session?: 'new'; cause?: Cause }): Retry => {
    if (used[burns] >= caps[burns]) return { do: 'fail', cause: more?.cause ?? 'attempts' };
    const prompt = burns === 'repairs' ? 'repair' : failure.mayHaveActed ? 'continue' : 'same';
    return { do: 'retry', at: now + delay, session: more?.session ?? 'same', prompt, burns };
  };
  switch (failure.kind) {
    case 'rate-limited':
    case 'overloaded':
      return { do: 'wait-for-account', until: limitedUntil(failure, used, now, MINUTE) };
    case 'quota-exhausted':
      return { do: 'wait-for-account', until: limitedUntil(failure, used, now, 15 * MINUTE) };
    case 'server-error':
    case 'network':
      return again('transient', backoff(used.transient, 5 * SECOND, seed));
    case 'auth':
    case 'billing':
      return { do: 'lock-out', kind: failure.kind };
    case 'cli-missing':
    case 'cli-unsupported':
    case 'sandbox-unavailable':
    case 'setting-unsupported':
    case 'setup-failed':
    case 'model-unavailable':
      return { do: 'ask' };
    case 'stalled':
    case 'mcp-unavailable':
    case 'protocol':
      return again('retries', backoff(used.retries, 5 * SECOND, seed));
    case 'output-truncated':
      return again('retries', 0);
    case 'context-overflow':
      return again('retries', 0, { session: 'new' });
    case 'step-limit':
    case 'cost-limit':
    case 'wall-timeout':
    case 'output-flood':
      return again('retries', 0, { cause: 'limit' });
    case 'bad-output':
      return again('repairs', 0, { cause: 'bad-output' });
    case 'model-refused':
    case 'bad-request':
    case 'not-stopped':
      return { do: 'fail', cause: 'attempts' };
    case 'session-not-found':
    case 'instructions-changed':
      return again('infrastructure', 0, { session: 'new' });
    case 'session-busy':
      return again('infrastructure', jittered(30 * SECOND, seed));
    case 'crashed':
    case 'never-started':
    case 'lost':
      return again('infrastructure', backoff(used.infrastructure, SECOND, seed));
    case 'cancelled':
      // The engine was stopped, or a person ended the turn. The run continues where it was.
      return {
        do: 'retry',
        at: now,
        session: 'same',
        prompt: failure.mayHaveActed ? 'continue' : 'same',
        burns: 'nothing',
      };
    default:
      return assertNever(failure.kind);
  }
}

/** Doubles from `initial` up to 15 minutes, ±20 % by seed. */
export function backoff(before: number, initial: number, seed: string): number {
  return jittered(Math.min(initial * 2 ** Math.min(before, 20), 15 * MINUTE), seed);
}

/** The same for the same seed, because the board is folded repeatedly. */
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
