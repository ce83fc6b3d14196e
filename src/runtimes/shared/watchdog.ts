import type { Failure, FailureKind } from '../../model/failure.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnLimits } from '../../model/turn-request.ts';
import { MOST_REMEMBERED } from './remembered.ts';

/** How long a process may live on after its runtime has said its last word (claude can hang there for ever). */
export const AFTER_RESULT_MS = 30_000;

/**
 * Limit on the lines that a turn may print. A turn that streams for an hour prints some hundred thousand. Each line costs the
 * host microseconds, and a program can print them faster than the host reads them.
 */
export const MOST_LINES = 2_000_000;

/** What the host knows of a live turn. Times are monotonic ms. */
export interface Pulse {
  readonly lastLife: number;
  readonly openTools: ReadonlySet<string>;
  /** Anything but start-up was reported: something may have happened. */
  readonly acted: boolean;
  /** Since when the runtime has done nothing but retry, and why. */
  readonly retrying: { readonly since: number; readonly kind: FailureKind; readonly message: string } | undefined;
  readonly terminalAt: number | undefined;
  /** Lines read so far. */
  readonly lines: number;
}

export function firstPulse(now: number): Pulse {
  return {
    lastLife: now,
    openTools: new Set(),
    acted: false,
    retrying: undefined,
    terminalAt: undefined,
    lines: 0,
  };
}

/** The pulse after one report. Pure. */
export function pulseAfter(pulse: Pulse, report: TurnReport, now: number): Pulse {
  switch (report.type) {
    case 'retry-scheduled':
      return {
        ...pulse,
        retrying: { since: pulse.retrying?.since ?? now, kind: report.failure, message: report.message },
      };
    case 'tool-started':
      return {
        ...pulse,
        openTools: withTool(pulse.openTools, report.id),
        acted: true,
        retrying: undefined,
      };
    case 'tool-ended': {
      const openTools = new Set(pulse.openTools);
      openTools.delete(report.id);
      // Its silence was the tool's; without this an idle turn could be seen between the line and the next look at sizes.
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
  // More tools need no entry of their own: the idle clock stands still anyway.
  return open.size >= MOST_REMEMBERED ? open : new Set(open).add(id);
}

/** Why the host ends a turn by itself. */
export type HostEnding =
  | { readonly why: 'failure'; readonly outcome: 'cancelled' | 'timed-out' | 'failed'; readonly failure: Failure }
  /** The runtime was done; only its process was not. Its verdict stands. */
  | { readonly why: 'after-result' };

/**
 * Whether the turn must be ended now. Pure; idle time stands still while a tool is open (no CLI beats then). All of it is
 * running time (`ranMs`: of the turn): a clock that is set and a machine that sleeps end no turn early and none late.
 */
export function decideWatchdog(
  pulse: Pulse,
  limits: TurnLimits,
  time: { monotonic: number; ranMs: number },
): HostEnding | undefined {
  if (pulse.lines >= MOST_LINES) {
    const message = `more than ${MOST_LINES} lines of output`;
    return { why: 'failure', outcome: 'failed', failure: { kind: 'output-flood', message, mayHaveActed: pulse.acted } };
  }
  if (pulse.terminalAt !== undefined) {
    return time.monotonic - pulse.terminalAt >= AFTER_RESULT_MS ? { why: 'after-result' } : undefined;
  }
  if (time.ranMs >= limits.wallMs) {
    return timedOut('wall-timeout', `the turn ran longer than its limit of ${limits.wallMs} ms`, pulse);
  }
  const { retrying } = pulse;
  if (retrying !== undefined && time.monotonic - retrying.since >= limits.retryMs) {
    const message = `still failing after ${limits.retryMs} ms of retries: ${retrying.message}`;
    return { why: 'failure', outcome: 'failed', failure: { kind: retrying.kind, message, mayHaveActed: pulse.acted } };
  }
  if (pulse.openTools.size === 0 && time.monotonic - pulse.lastLife >= limits.idleMs) {
    return timedOut('stalled', `no sign of life for ${limits.idleMs} ms`, pulse);
  }
  return undefined;
}

function timedOut(kind: FailureKind, message: string, pulse: Pulse): HostEnding {
  return { why: 'failure', outcome: 'timed-out', failure: { kind, message, mayHaveActed: pulse.acted } };
}
