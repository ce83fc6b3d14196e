import type { Failure } from '../../model/failure.ts';
import { defined } from '../../text/defined.ts';
import { parseRetryAt } from '../../text/retry-at.ts';
import type { TurnFacts } from './cli-adapter.ts';
import { limitNotice } from './limit-notice.ts';
import { endingText, exitedCleanly } from './translation.ts';

/** A failure, before it is known whether tools may have changed something. */
export type Cause = Omit<Failure, 'mayHaveActed'>;

/** What a program said about the end of its turn. */
interface Said {
  /** It reported success, or a failure; undefined: its output stopped before either. */
  readonly end: 'completed' | Cause | undefined;
  /** Its answer, in which an account's limit may be reported. */
  readonly answer: string;
  /** What it said in place of an end, and its meaning if that is known. */
  readonly complaint: { readonly text: string; readonly cause?: Cause | undefined };
  /** Epoch ms at which the account's limit resets, if it was announced. */
  readonly resetsAt?: number | undefined;
  readonly mayHaveActed: boolean;
}

const LIMITS: ReadonlySet<string> = new Set(['quota-exhausted', 'billing', 'rate-limited', 'overloaded']);
const MOST_CHARACTERS = 2000;

/** Why a turn failed; undefined: it completed. Exit 0 alone is no proof, and neither is a success before a bad exit. */
export function failureOf(name: string, facts: TurnFacts, said: Said): Failure | undefined {
  const cause = causeOf(name, facts, said);
  if (cause === undefined) return undefined;
  const message = cause.message.trim().slice(0, MOST_CHARACTERS) || cause.kind;
  const retryAt = LIMITS.has(cause.kind)
    ? (said.resetsAt ?? parseRetryAt(message, facts.now) ?? cause.retryAt)
    : undefined;
  return { ...defined({ ...cause, message, retryAt }), mayHaveActed: said.mayHaveActed };
}

function causeOf(name: string, { ending, endedByHost, now }: TurnFacts, said: Said): Cause | undefined {
  if (ending.type === 'never-started') return { kind: 'never-started', message: `${name} never ran` };
  if (said.end === 'completed') {
    const notice = limitNotice(said.answer, now);
    if (notice !== undefined || exitedCleanly(ending)) return notice;
    return { kind: 'crashed', message: `${name} ended by ${endingText(ending)} after it reported success` };
  }
  if (said.end !== undefined) return said.end;
  if (endedByHost) return { kind: 'cancelled', message: 'ended by squad' };
  const { text, cause } = said.complaint;
  const killed = `${name} ended by ${endingText(ending)} before its result`;
  if (ending.type !== 'exited' || ending.signal !== null) {
    return { kind: 'crashed', message: text === '' ? killed : `${killed}: ${text}` };
  }
  if (cause !== undefined) return cause;
  if (ending.code === 0) return { kind: 'protocol', message: `${name} exited with 0 but without a result` };
  return { kind: 'crashed', message: text === '' ? killed : text };
}
