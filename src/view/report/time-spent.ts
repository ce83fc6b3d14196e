import type { RunHistory } from '../read-run.ts';
import { endOf } from './timeline.ts';

/** Each moment of a run by the clock counts once, for the first of these that holds. */
export const SPENT_ON = ['agents', 'checks', 'setup', 'person', 'time', 'stopped', 'squad'] as const;
export type SpentOn = (typeof SPENT_ON)[number];

/**
 * Where the time of a run went, by the clock, in ms: they add up to `all`. `agents`: at least one agent worked. `checks` and `setup`: no
 * agent, and at least one such command ran. `person`, `time`: it waited for one. `stopped`: no engine was at work. `squad`: the rest.
 */
export type TimeSpent = Readonly<Record<SpentOn | 'all', number>>;

interface Span {
  readonly on: SpentOn;
  readonly from: number;
  readonly to: number;
}

const WAITS = { answer: 'person', time: 'time', resume: 'stopped' } as const;

/** Pure. */
export function timeSpentOf(reading: RunHistory, now: number): TimeSpent {
  const { row, driven, attempts, waits, segments } = reading;
  const to = Math.max(row.createdAt, driven ? now : endOf(reading, now));
  const spans: Span[] = [];
  for (const { attempt, settlement } of attempts) {
    const { kind, agent, spawnedAt } = attempt;
    if (spawnedAt === null) continue;
    const on = kind === 'turn' ? 'agents' : agent === 'squad-setup' ? 'setup' : 'checks';
    const { durationMs = 0 } = settlement?.result ?? {};
    // An engine that was gone may settle a turn long after its end.
    const ended = durationMs > 0 ? spawnedAt + durationMs : to;
    spans.push({ on, from: spawnedAt, to: Math.min(ended, settlement?.at ?? to) });
  }
  for (const wait of waits) spans.push({ on: WAITS[wait.for], from: wait.from, to: wait.until ?? to });
  // A fork may wait for its start; any other run is there from its start on.
  let left = row.parent === null ? to : row.createdAt;
  for (const { acquiredAt, releasedAt, workedMs } of segments) {
    spans.push({ on: 'stopped', from: left, to: acquiredAt });
    left = releasedAt ?? acquiredAt + workedMs;
  }
  return partition(spans, row.createdAt, to);
}

/** Counts each moment between `from` and `to` once, for the first in `SPENT_ON` that covers it, or else for squad itself. */
export function partition(spans: readonly Span[], from: number, to: number): TimeSpent {
  const spent = { agents: 0, checks: 0, setup: 0, person: 0, time: 0, stopped: 0, squad: 0, all: to - from };
  const open = { ...spent };
  const changes = new Map<number, { on: SpentOn; step: number }[]>([[to, []]]);
  for (const span of spans) {
    const [begin, end] = [Math.max(from, span.from), Math.min(to, span.to)];
    if (begin >= end) continue;
    changes.set(begin, [...(changes.get(begin) ?? []), { on: span.on, step: 1 }]);
    changes.set(end, [...(changes.get(end) ?? []), { on: span.on, step: -1 }]);
  }
  let before = from;
  // Sorted as numbers.
  for (const at of new Float64Array(changes.keys()).sort()) {
    let first = 0;
    while (open[SPENT_ON[first] ?? 'squad'] === 0 && first < SPENT_ON.length - 1) first += 1;
    spent[SPENT_ON[first] ?? 'squad'] += at - before;
    for (const { on, step } of changes.get(at) ?? []) open[on] += step;
    before = at;
  }
  return spent;
}
