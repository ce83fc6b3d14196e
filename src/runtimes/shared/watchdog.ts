import type { Failure, FailureKind } from '../../model/failure.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnLimits } from '../../model/turn-request.ts';
import { parseRetryAt } from '../../text/retry-at.ts';
import { MOST_REMEMBERED } from './translation.ts';

/** A process has this long to exit after its runtime printed the result. claude can hang there. */
export const AFTER_RESULT_MS = 30_000;

/**
 * Limit on the lines of a turn. A turn that streams for an hour prints some hundred thousand. Each line costs the host
 * microseconds, and a program can print faster than the host reads.
 */
export const MOST_LINES = 2_000_000;

/** The facts about a live turn. Times are monotonic ms. */
export interface Pulse {
  readonly lastLife: number;
  readonly openTools: ReadonlySet<string>;
  /** More than the start-up was reported, so files may have changed. */
  readonly acted: boolean;
  /** Set while the runtime only retries. */
  readonly retrying: Retrying | undefined;
  readonly terminalAt: number | undefined;
  /** A session was announced that is not the one to resume. */
  readonly strayed: boolean;
  /** Lines read so far. */
  readonly lines: number;
}

interface Retrying {
  readonly since: number;
  readonly kind: FailureKind;
  readonly message: string;
  /** The reset that the message names: in how many ms after it, and as epoch ms. */
  readonly reset?: { readonly after: number; readonly at: number };
}

export function firstPulse(now: number): Pulse {
  const begun = { acted: false, retrying: undefined, terminalAt: undefined, strayed: false, lines: 0 };
  return { lastLife: now, openTools: new Set(), ...begun };
}

/** The pulse after one report. `now` is monotonic, `epoch` the time of day. Pure. */
export function pulseAfter(pulse: Pulse, report: TurnReport, now: number, epoch: number): Pulse {
  switch (report.type) {
    case 'retry-scheduled': {
      const { failure: kind, message } = report;
      const at = parseRetryAt(message, epoch);
      const reset = at === undefined ? {} : { reset: { after: at - epoch, at } };
      return { ...pulse, retrying: { since: pulse.retrying?.since ?? now, kind, message, ...reset } };
    }
    case 'tool-started':
      return { ...pulse, openTools: withTool(pulse.openTools, report.id), acted: true, retrying: undefined };
    case 'tool-ended': {
      const openTools = new Set(pulse.openTools);
      openTools.delete(report.id);
      // The silence so far was the tool's. Without this the turn could count as idle until the next look at the sizes.
      return { ...pulse, lastLife: now, openTools, acted: true, retrying: undefined };
    }
    case 'text':
    case 'thinking':
    case 'files-changed':
      return { ...pulse, acted: true, retrying: undefined };
    default:
      return pulse;
  }
}

function withTool(open: ReadonlySet<string>, id: string): ReadonlySet<string> {
  // The idle clock is stopped already, so more tools need no entry.
  return open.size >= MOST_REMEMBERED ? open : new Set(open).add(id);
}

/** Why the host ends a turn. */
export type HostEnding =
  | { readonly why: 'failure'; readonly outcome: 'cancelled' | 'timed-out' | 'failed'; readonly failure: Failure }
  /** The runtime printed its result but its process did not exit. Its verdict stands. */
  | { readonly why: 'after-result' };

/**
 * Whether the turn must be ended now. Pure. The idle clock stops while a tool is open, because programs then print nothing.
 * `ranMs` is the running time of the turn. All times are monotonic, so setting the clock or a sleeping machine changes nothing.
 */
export function decideWatchdog(
  pulse: Pulse,
  limits: TurnLimits,
  time: { monotonic: number; ranMs: number },
): HostEnding | undefined {
  if (pulse.lines >= MOST_LINES) {
    return ended('failed', 'output-flood', `more than ${MOST_LINES} lines of output`, pulse);
  }
  // Work in another session does not count, but still changes the task's folder.
  if (pulse.strayed) return ended('failed', 'session-not-found', 'the runtime opened another session', pulse);
  if (pulse.terminalAt !== undefined) {
    return time.monotonic - pulse.terminalAt >= AFTER_RESULT_MS ? { why: 'after-result' } : undefined;
  }
  if (time.ranMs >= limits.wallMs) {
    return ended('timed-out', 'wall-timeout', `the turn ran longer than its limit of ${limits.wallMs} ms`, pulse);
  }
  const { retrying } = pulse;
  if (retrying !== undefined) {
    const { kind, message, since, reset } = retrying;
    const retryAt = reset && { retryAt: reset.at };
    // The limit resets only after the time for retries is over.
    if (reset !== undefined && reset.after > limits.retryMs) return ended('failed', kind, message, pulse, retryAt);
    if (time.monotonic - since >= limits.retryMs) {
      const after = `still failing after ${limits.retryMs} ms of retries: ${message}`;
      return ended('failed', kind, after, pulse, retryAt);
    }
  }
  if (pulse.openTools.size === 0 && time.monotonic - pulse.lastLife >= limits.idleMs) {
    return ended('timed-out', 'stalled', `no sign of life for ${limits.idleMs} ms`, pulse);
  }
  return undefined;
}

function ended(
  outcome: 'timed-out' | 'failed',
  kind: FailureKind,
  message: string,
  pulse: Pulse,
  more: Pick<Failure, 'retryAt'> = {},
): HostEnding {
  return { why: 'failure', outcome, failure: { kind, message, mayHaveActed: pulse.acted, ...more } };
}
