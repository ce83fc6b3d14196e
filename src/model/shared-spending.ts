import type { Day } from '../text/day.ts';
import { useText } from './amount.ts';
import { microUsd } from './money.ts';
import type { SharedLimits } from './shared-limits.ts';

/** How much of the limits of all runs together is used. */
export interface SharedUse {
  readonly timezone: string;
  readonly limits: SharedLimits;
  readonly day: Day;
  /** The use of turns that started on this day. A settled one without a known cost counts as the largest known of its runtime that day. */
  readonly usd: number;
  readonly turns: number;
  /** Turns whose cost is estimated in `usd`, or left out. */
  readonly unknownCost: number;
  /** Runs whose first turn started on this day. */
  readonly runs: number;
  /** Turns at work now, by run. */
  readonly live: ReadonlyMap<string, number>;
  /** Accounts at a usage limit that other runs found out, and until when (epoch ms). */
  readonly limited: ReadonlyMap<string, number>;
  /** Runs that have had a turn count for `runsPerDay` no more. */
  hasBegun(runId: string): boolean;
}

export const SHARED_CAPS = ['usdPerDay', 'turnsPerDay', 'runsPerDay', 'parallelTurns'] as const;
export type SharedCap = (typeof SHARED_CAPS)[number];

export interface SharedCapUse {
  readonly cap: SharedCap;
  readonly used: number;
  readonly most: number;
  readonly reached: boolean;
}

/** The use of each limit that is set, in a fixed order. */
export function sharedCaps(use: SharedUse): SharedCapUse[] {
  const used = { usdPerDay: use.usd, turnsPerDay: use.turns, runsPerDay: use.runs, parallelTurns: liveTurns(use) };
  return SHARED_CAPS.flatMap((cap) => {
    const most = use.limits[cap];
    if (most === undefined) return [];
    const reached = cap === 'usdPerDay' ? microUsd(used[cap]) >= microUsd(most) : used[cap] >= most;
    return [{ cap, used: used[cap], most, reached }];
  });
}

/** The limit that one more turn of this run would pass. */
export function passedShared(use: SharedUse, runId: string): SharedCapUse | undefined {
  return sharedCaps(use).find(({ cap, reached }) => reached && (cap !== 'runsPerDay' || !use.hasBegun(runId)));
}

/** The turns of one run that may start now. */
export interface SharedRoom {
  readonly free: number;
  /** A limit of this day is reached: nothing starts before `until` (epoch ms). */
  readonly reached: { readonly why: string; readonly until: number } | undefined;
  /** As in `SharedUse`; absent: none. */
  readonly limited?: ReadonlyMap<string, number>;
}

/** The timer of a run that waits for an account's limit begins with this. Its end is known to all runs by it. */
export const ACCOUNT_TIMER = 'engine/account/';

/** `before`: runs that wait for a turn and come first. `parallel`: the run's own limit, which the turns of all runs count for. */
export function roomFor(use: SharedUse, runId: string, before = 0, parallel = Infinity): SharedRoom {
  const passed = passedShared(use, runId);
  const { limited } = use;
  if (passed !== undefined && passed.cap !== 'parallelTurns') {
    return {
      free: 0,
      reached: { why: `${sharedCapText(passed)} (all runs of this repository)`, until: use.day.until },
      limited,
    };
  }
  const { turnsPerDay = Infinity, parallelTurns = Infinity } = use.limits;
  const free = Math.min(turnsPerDay - use.turns, Math.min(parallelTurns, parallel) - liveTurns(use) - before);
  return { free: Math.max(0, free), reached: undefined, limited };
}

/** A run that has had no turn has no id that counts. */
const NEW_RUN = '';

/** Until when a cap of the day lets no new run begin (epoch ms); undefined: none is reached. */
export function newRunsCappedUntil(use: SharedUse | undefined): number | undefined {
  return use === undefined ? undefined : roomFor(use, NEW_RUN).reached?.until;
}

/** `USD 5.20 of 5.00 today`, `3 of 10 turns today`, `2 of 2 turns at once`. */
export function sharedCapText({ cap, used, most }: Pick<SharedCapUse, 'cap' | 'used' | 'most'>): string {
  switch (cap) {
    case 'usdPerDay':
      return `${useText({ cap: 'usd', used, most })} used today`;
    case 'turnsPerDay':
      return `${used} of ${most} turns started today`;
    case 'runsPerDay':
      return `${used} of ${most} runs started today`;
    case 'parallelTurns':
      return `${used} of ${most} turns at once`;
    default:
      return cap satisfies never;
  }
}

function liveTurns({ live }: SharedUse): number {
  return [...live.values()].reduce((sum, turns) => sum + turns, 0);
}
