import type { Failure } from '../../model/failure.ts';
import { defined } from '../../text/defined.ts';
import { parseRetryAt } from '../../text/retry-at.ts';
import type { TurnFacts, Verdict } from './cli-adapter.ts';
import { limitNotice } from './limit-notice.ts';
import { endingText, exitedCleanly, mayHaveActed, type ToolLog } from './translation.ts';

/** A failure, before it is known whether tools may have changed something. */
export type Cause = Omit<Failure, 'mayHaveActed'>;

/** A program's output in its turn, as far as the verdict depends on it. */
interface Said extends Pick<Verdict, 'text' | 'structured' | 'sessionId' | 'counters' | 'steps'> {
  /** It reported success, or a failure; undefined: its output stopped before either. */
  readonly end: 'completed' | Cause | undefined;
  /** Words in place of an end, and their meaning if it is known. */
  readonly complaint: { readonly text: string; readonly cause?: Cause | undefined };
  /** Epoch ms at which the account's limit resets, if it was announced. */
  readonly resetsAt?: number | undefined;
  /** ms that the program itself would have waited before it repeats a rate-limited request. */
  readonly pauseMs?: number | undefined;
  readonly tools: ToolLog;
  /** Output is missing, which may hide changed files. */
  readonly unseen: boolean;
}

const LIMITS: ReadonlySet<string> = new Set(['quota-exhausted', 'billing', 'rate-limited', 'overloaded']);
const MOST_CHARACTERS = 2000;

/** The verdict on a turn. Exit 0 alone is no proof of success, and neither is a success before a bad exit. */
export function verdictOf(name: string, facts: TurnFacts, said: Said): Verdict {
  const { text, structured, sessionId, counters, steps, tools, unseen } = said;
  const cause = causeOf(name, facts, said);
  const acted = unseen || mayHaveActed(tools);
  const failure = cause && { ...failureText(cause, facts, said), mayHaveActed: acted };
  const denials = [...tools.denied.values()];
  return defined({ failure, text, structured, sessionId, denials, mayHaveActed: acted, counters, steps });
}

/** The cause with a message of bounded length, and with the end of a limit if one is known. */
function failureText(cause: Cause, { now }: TurnFacts, { resetsAt, pauseMs }: Said): Cause {
  const message = cause.message.trim().slice(0, MOST_CHARACTERS) || cause.kind;
  const pause = cause.kind === 'rate-limited' && pauseMs !== undefined ? Math.ceil(now + pauseMs) : cause.retryAt;
  const retryAt = LIMITS.has(cause.kind) ? (resetsAt ?? parseRetryAt(message, now) ?? pause) : undefined;
  return defined({ ...cause, message, retryAt });
}

function causeOf(name: string, { ending, endedByHost, now }: TurnFacts, said: Said): Cause | undefined {
  if (ending.type === 'never-started') return { kind: 'never-started', message: `${name} never ran` };
  if (said.end === 'completed') {
    // A program may print the notice of an account's limit in place of an answer.
    const notice = said.structured === undefined ? limitNotice(said.text, now) : undefined;
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
