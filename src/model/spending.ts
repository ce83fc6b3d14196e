import { useText } from './amount.ts';
import { microUsd } from './money.ts';
import type { SharedUse } from './shared-spending.ts';

/** The limits of a run, an agent or a task. Absent: no limit. */
export interface Caps {
  /** For a run: engine time without suspended time. For an agent or a task: the sum of its turns' time. */
  readonly minutes?: number | undefined;
  /** Claimed turns, settled or not. */
  readonly turns?: number | undefined;
  readonly usd?: number | undefined;
  /** Input plus output tokens. */
  readonly tokens?: number | undefined;
}

export const CAP_NAMES = ['minutes', 'turns', 'usd', 'tokens'] as const;
export type CapName = (typeof CAP_NAMES)[number];

/** Use so far. A settled turn whose use is unknown counts as the largest known turn of its runtime in this run, not as zero. */
export interface Use extends Readonly<Record<CapName, number>> {
  /** Turns that `tokens` and `usd` estimate, or leave out. */
  readonly unknown: UnknownUse<number>;
  /** Runtimes of such turns without any known use: a cap cannot stop them. */
  readonly blind: UnknownUse<readonly string[]>;
}

type UnknownUse<T> = Readonly<Record<'tokens' | 'usd', T>>;

/** The use of a run's turns up to the moment of the call. */
export interface Spending {
  readonly run: Use;
  agent(name: string): Use;
  task(id: string): Use;
  /** Counts all runs of the repository. Absent: they have no common limits. */
  readonly shared?: SharedUse | undefined;
}

export interface PassedCap {
  readonly cap: CapName;
  readonly used: number;
  readonly most: number;
}

/** The cap that one more turn would pass, in a fixed order. */
export function passedCap(use: Readonly<Record<CapName, number>>, caps: Caps): PassedCap | undefined {
  for (const cap of CAP_NAMES) {
    const most = caps[cap];
    if (most !== undefined && isReached(cap, use[cap], most)) return { cap, used: use[cap], most };
  }
  return undefined;
}

/** Whether this use leaves no room for another turn: for the engine, each claim and `squad db check`. */
export function isReached(cap: CapName, used: number, most: number): boolean {
  return cap === 'usd' ? microUsd(used) >= microUsd(most) : used >= most;
}

export type LimitDecision = { readonly reached: false } | { readonly reached: true; readonly why: string };

/** The run's cap that one more turn would pass. The claim checks it again. `elapsedMs`: engine time over all segments. */
export function decideLimits(use: Pick<Use, 'turns' | 'tokens' | 'usd'>, caps: Caps, elapsedMs: number): LimitDecision {
  const { turns, tokens, usd } = use;
  const passed = passedCap({ turns, tokens, usd, minutes: elapsedMs / 60_000 }, caps);
  return passed === undefined ? { reached: false } : { reached: true, why: capText(passed) };
}

/** `USD 5.20 of 5.00 used` */
function capText(passed: PassedCap): string {
  return `${useText(passed)} used`;
}

/** The cap that one more turn of an agent or task would pass, as text; undefined: none. */
export interface Room {
  /** `starting`: the turns that the same decision starts for it. */
  agent(name: string, starting: number): string | undefined;
  task(id: string, starting: number): string | undefined;
}

export const ROOM_FOR_ALL: Room = { agent: () => undefined, task: () => undefined };

export function roomOf(
  spending: Spending,
  caps: { readonly agents: ReadonlyMap<string, Caps>; readonly task: Caps | undefined },
): Room {
  const left = (of: Caps | undefined, use: () => Use, starting: number): string | undefined => {
    if (of === undefined) return undefined;
    const used = use();
    const passed = passedCap({ ...used, turns: used.turns + starting }, of);
    return passed === undefined ? undefined : capText(passed);
  };
  return {
    agent: (name, starting) => left(caps.agents.get(name), () => spending.agent(name), starting),
    task: (id, starting) => left(caps.task, () => spending.task(id), starting),
  };
}

/** ms that engines have worked on a run. Suspended time does not count. */
export function engineTime(segments: readonly { readonly workedMs: number }[]): number {
  return segments.reduce((sum, { workedMs }) => sum + workedMs, 0);
}
