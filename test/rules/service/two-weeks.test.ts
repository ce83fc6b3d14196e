import { fc } from '@fast-check/vitest';
import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import { decideService, slotKey, slotRunName } from '../../../src/rules/service/decide-service.ts';
import { isSlug } from '../../../src/model/slug.ts';

const DAY = 86_400_000;
const at = (text: string): number => Date.parse(text);

interface Kept {
  after: number;
}

/** Settles all that is due at one moment. Returns what was submitted, and when the next look is. */
function settle(kept: Kept, now: number, timetable: { cron: string; timezone: string }): [number[], number] {
  const slots: number[] = [];
  for (;;) {
    const schedules = [{ name: 'nightly', ...timetable, after: kept.after }];
    const decision = decideService({ now, schedules, engine: 'none', canMove: false });
    if (decision.do === 'wait') return [slots, decision.until ?? Infinity];
    if (decision.do !== 'submit') throw new Error(decision.do);
    slots.push(decision.slot);
    kept.after = Math.max(kept.after, decision.slot);
  }
}

/** A clock from one moment to another, by which the service looks when it said that it would. */
function play(from: number, to: number, timetable: { cron: string; timezone: string }): number[] {
  const kept = { after: from };
  const all: number[] = [];
  for (let now = from; now <= to;) {
    const [slots, next] = settle(kept, now, timetable);
    all.push(...slots);
    expect(next).toBeGreaterThan(now);
    now = next;
  }
  return all;
}

function table(from: number, to: number, { cron, timezone }: { cron: string; timezone: string }): number[] {
  const times = new Cron(cron, { timezone, paused: true })
    .nextRuns(15 * 48, new Date(from))
    .map((one) => one.getTime());
  return times.filter((time) => time <= to);
}

/** Around both changes of the clock in Berlin. */
const STARTS = ['2026-10-18T00:00:00Z', '2027-03-21T00:00:00Z'];
const TIMETABLES = ['0 2 * * *', '30 2 * * *', '*/30 * * * *'].flatMap((cron) =>
  ['Europe/Berlin', 'Asia/Seoul'].map((timezone) => ({ cron, timezone })),
);
const ROWS = TIMETABLES.flatMap((timetable) => STARTS.map((start) => ({ ...timetable, start })));

describe('fourteen days of a simulated clock', () => {
  it.each(ROWS)('$cron in $timezone from $start: each slot once', ({ start, ...timetable }) => {
    const [from, to] = [at(start), at(start) + 14 * DAY];
    const slots = play(from, to, timetable);
    expect(slots).toEqual(table(from, to, timetable));
    expect(new Set(slots.map((slot) => slotKey('n', slot))).size).toBe(slots.length);
    const names = slots.map((slot) => slotRunName('nineteen-characters', slot));
    expect(new Set(names).size).toBe(slots.length);
    expect(names.every(isSlug)).toBe(true);
  });

  it('has both of the half hours that the end of summer time repeats', () => {
    const slots = play(
      at('2026-10-25T00:00:00Z'),
      at('2026-10-25T01:45:00Z'),
      TIMETABLES[4] ?? { cron: '', timezone: '' },
    );
    expect(slots.map((slot) => new Date(slot).toISOString().slice(11, 16))).toEqual(['00:30', '01:00', '01:30']);
  });

  it.each(ROWS)(
    '$cron in $timezone, a day off from $start on: one catch-up, of the newest slot',
    ({ start, ...timetable }) => {
      const kept = { after: at(start) };
      const now = at(start) + 6 * DAY + 12 * 3_600_000 + 1;
      settle(kept, at(start) + 5 * DAY, timetable);
      const [slots] = settle(kept, now, timetable);
      expect(slots).toEqual(table(at(start), now, timetable).slice(-1));
    },
  );

  it('starts nothing twice and loses nothing that comes again, however a clock is set back', () => {
    const steps = fc.array(fc.integer({ min: -3 * 3_600_000, max: 5_400_000 }), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(fc.constantFrom(...ROWS), steps, ({ start, ...timetable }, moves) => {
        const from = at(start) + 6 * DAY;
        const kept = { after: from };
        const slots: number[] = [];
        let now = from;
        let latest = from;
        for (const move of moves) {
          // A look takes place at least as often as the service said, unless the machine was off.
          now = Math.max(from, now + move);
          const [settled, next] = settle(kept, now, timetable);
          slots.push(...settled);
          expect(next).toBeGreaterThan(now);
          expect(settled.length).toBeLessThanOrEqual(1);
          latest = Math.max(latest, now);
          expect(kept.after).toBe(slots.at(-1) ?? from);
        }
        expect(new Set(slots).size).toBe(slots.length);
        const all = table(from, latest, timetable);
        expect(all).toEqual(expect.arrayContaining(slots));
        expect(slots.at(-1)).toBe(all.at(-1));
      }),
      { numRuns: 25 },
    );
  });
});
