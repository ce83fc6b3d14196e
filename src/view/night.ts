import { hasEnded, type RunState } from '../model/run-state.ts';
import { sumUsd } from '../model/money.ts';
import type { Playbooks } from '../model/plan.ts';
import type { Ledger, LeaseSegment, RunRow, Totals } from '../substrate/ports/ledger.ts';
import { isDriven, type LockedBy } from './driven.ts';
import { endedPart, shortViewSchema } from './ended-view.ts';
import { findRun, readAttempts, type RunReading } from './read-run.ts';
import { standingOf } from './run-state.ts';
import { totalsOf } from './usage-count.ts';

/** A run that an engine worked on since a time. */
export interface NightRun {
  readonly runId: string;
  readonly name: string;
  readonly state: RunState;
  /** The first cause of a failure, or what the run waits for; null: it is done, or at work. */
  readonly why: string | null;
  /** Since when it waits, or when it ended (epoch ms); null: it is at work. */
  readonly at: number | null;
}

/** All runs of a repository since a time. */
export interface Night {
  /** Epoch ms. */
  readonly since: number;
  /** The newest first. */
  readonly runs: readonly NightRun[];
  /** Turns that were settled since then, and their known cost; null: there are turns, and the cost of none is known. */
  readonly turns: number;
  readonly costUsd: number | null;
  readonly unknownCostTurns: number;
}

interface Seen {
  readonly lockedBy: LockedBy | null;
  readonly now: number;
  /** An application's own. */
  readonly playbooks?: Playbooks | undefined;
}

/** Folds the plan only of runs that are not over. */
export function readNight(ledger: Ledger, since: number, seen: Seen): Night {
  const found = ledger.runs().flatMap((row) => {
    const segments = ledger.segments(row.id);
    const end = segments.at(-1) && endOfSegment(segments, seen);
    if (Math.max(row.createdAt, end ?? 0) < since) return [];
    const run = runOf(ledger, row, end, seen);
    return run === undefined ? [] : [{ run, totals: totalsSince(ledger, row, since) }];
  });
  const totals = found.map((one) => one.totals);
  const sum = (of: 'turnsSettled' | 'unknownCost'): number => totals.reduce((all, one) => all + one[of], 0);
  const [turns, unknownCostTurns] = [sum('turnsSettled'), sum('unknownCost')];
  const isUnknown = turns > 0 && unknownCostTurns === turns;
  const costUsd = isUnknown ? null : sumUsd(totals.map((one) => one.costUsd));
  return { since, runs: found.map(({ run }) => run).toReversed(), turns, costUsd, unknownCostTurns };
}

/** When an engine was at work on a run for the last time. */
function endOfSegment(segments: readonly LeaseSegment[], { lockedBy, now }: Seen): number {
  const last = segments.at(-1);
  if (last === undefined || isDriven(segments, lockedBy)) return now;
  return last.releasedAt ?? last.acquiredAt + last.workedMs;
}

function runOf(ledger: Ledger, row: RunRow, end: number | undefined, seen: Seen): NightRun | undefined {
  const about = { runId: row.id, name: row.name };
  const ended = endedPart(ledger, row, shortViewSchema);
  if (ended !== undefined) return { ...about, ...endIn(ended.run.state, ended.end?.headline ?? '', end) };
  const reading = findRun(ledger, row.id, seen.lockedBy, seen.playbooks);
  if (reading === undefined) return undefined;
  const { state, conclusion, waitingFor } = standingOf(reading, seen.now);
  if (conclusion !== null) return { ...about, ...endIn(state, conclusion.headline, end) };
  const isAtWork = waitingFor === null;
  return { ...about, state, why: waitingFor?.why ?? null, at: isAtWork ? null : (waitBegan(reading) ?? end ?? null) };
}

function endIn(state: RunState, headline: string, end: number | undefined): Pick<NightRun, 'state' | 'why' | 'at'> {
  const why = hasEnded(state) && state !== 'done' ? headline.replace(/^[A-Z]+,? /, '') : null;
  return { state, why, at: end ?? null };
}

/** undefined: nothing says that the run waits since then. */
function waitBegan({ waits }: RunReading): number | undefined {
  const last = waits.at(-1);
  return last?.until === null ? last.from : undefined;
}

/** Counts the turns that were settled since then. */
function totalsSince(ledger: Ledger, row: RunRow, since: number): Totals {
  if (row.createdAt >= since) return ledger.totals(row.id);
  const turns = readAttempts(ledger, { runId: row.id });
  return totalsOf(turns.filter(({ settlement }) => settlement !== undefined && settlement.at >= since));
}
