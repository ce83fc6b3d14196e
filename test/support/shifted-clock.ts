import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { openPreloaded } from './preloaded.ts';
import type { Scenario } from './scenario-parts.ts';

/** A time of day that a test sets, for processes that start with `environment`. The files that they write keep the machine's own. */
export interface ShiftedClock {
  readonly environment: Readonly<Record<string, string>>;
  /** Seconds, against the machine's clock. */
  set(seconds: number): void;
  close(): void;
}

/** undefined: there is no compiler here. */
export function openShiftedClock(): ShiftedClock | undefined {
  const library = openPreloaded('clock/shift.c');
  if (library === undefined) return undefined;
  const file = join(library.root, 'seconds');
  const set = (seconds: number): void => writeFileSync(file, String(seconds));
  set(0);
  return { environment: { ...library.environment, SHIFTED_CLOCK: file }, set, close: library.close };
}

/** The scenario with agents whose processes have the clock, too. */
export function underClock(scenario: Scenario, { environment }: ShiftedClock): Scenario {
  return {
    ...scenario,
    settings: (script, effects) => {
      const settings = parse(scenario.settings(script, effects)) as { runtimes: { scripted: object } };
      const scripted = { ...settings.runtimes.scripted, env: Object.keys(environment) };
      return stringify({ ...settings, runtimes: { ...settings.runtimes, scripted } });
    },
  };
}
