import { capText, passedCap, type CapName, type Caps, type Spending, type Use } from '../../model/caps.ts';

export type LimitDecision =
  | { readonly reached: false; readonly minutesLeftMs: number | null }
  | { readonly reached: true; readonly limit: CapName; readonly why: string };

/**
 * The cap of the run that one more turn would pass. The claim checks it again, in its own transaction. `elapsedMs`: engine
 * time over all segments, without parked time.
 */
export function decideLimits(use: Pick<Use, 'turns' | 'tokens' | 'usd'>, caps: Caps, elapsedMs: number): LimitDecision {
  const { turns, tokens, usd } = use;
  const passed = passedCap({ turns, tokens, usd, minutes: elapsedMs / 60_000 }, caps);
  if (passed !== undefined) return { reached: true, limit: passed.cap, why: capText(passed) };
  return { reached: false, minutesLeftMs: caps.minutes === undefined ? null : caps.minutes * 60_000 - elapsedMs };
}

/** What agents and tasks have left: the cap that one more turn would pass, as text; undefined: none. */
export interface Room {
  /** `starting`: its turns that this very decision starts already. */
  agent(name: string, starting: number): string | undefined;
  task(id: string, starting: number): string | undefined;
}

export const ROOM_FOR_ALL: Room = { agent: () => undefined, task: () => undefined };

/** From what was used, by the same rule as the claims. */
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
