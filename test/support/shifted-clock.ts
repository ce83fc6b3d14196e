import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Scenario } from './scenario-parts.ts';

const SOURCE = join(import.meta.dirname, '../fixtures/clock/shift.c');

/** A time of day that a test sets, for processes that start with `environment`. The files that they write keep the machine's own. */
export interface ShiftedClock {
  readonly environment: Readonly<Record<string, string>>;
  /** Seconds, against the machine's clock. */
  set(seconds: number): void;
  close(): void;
}

/** undefined: there is no compiler here. */
export function openShiftedClock(): ShiftedClock | undefined {
  const root = mkdtempSync(join(tmpdir(), 'squad-clock-'));
  const [library, file] = [join(root, 'shift.so'), join(root, 'seconds')];
  const args = ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl'];
  const made = spawnSync('cc', args);
  if (made.status !== 0) {
    rmSync(root, { recursive: true });
    return undefined;
  }
  const set = (seconds: number): void => writeFileSync(file, String(seconds));
  set(0);
  return {
    environment: { LD_PRELOAD: library, SHIFTED_CLOCK: file },
    set,
    close: () => rmSync(root, { recursive: true, force: true }),
  };
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
