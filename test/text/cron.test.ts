import { fc } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { newestSlot, nextSlot, timetableProblem } from '../../src/text/cron.ts';

const at = (text: string): number => Date.parse(text);

describe('timetables', () => {
  it.each([
    ['0 2 * * *', 'Europe/Berlin', undefined],
    ['*/30 8-18 * * 1-5', 'Asia/Seoul', undefined],
    ['0 0 L * *', 'UTC', undefined],
    ['@daily', 'UTC', undefined],
    ['0 2 * *', 'UTC', 'cron'],
    ['0 25 * * *', 'UTC', 'cron'],
    ['at two', 'UTC', 'cron'],
    ['', 'UTC', 'cron'],
    // Seconds: a schedule is no loop.
    ['0 0 2 * * *', 'UTC', 'cron'],
    ['0 0 31 2 *', 'UTC', 'cron'],
    [`0 2 ${'1,'.repeat(100)}1 * *`, 'UTC', 'cron'],
    ['0 2 * * *', 'Asia/Seul', 'timezone'],
    ['0 2 * * *', '', 'timezone'],
  ] as const)('%s in %s', (cron, timezone, key) => {
    expect(timetableProblem({ cron, timezone })?.key).toBe(key);
  });

  it('says of a day that never comes that it never does', () => {
    expect(timetableProblem({ cron: '0 0 31 2 *', timezone: 'UTC' })?.why).toContain('never comes');
  });

  it('finds the newest slot as a walk from the first one would', () => {
    const zone = fc.constantFrom('Europe/Berlin', 'Asia/Seoul', 'America/St_Johns');
    const cron = fc.constantFrom('0 2 * * *', '*/30 * * * *', '30 2 * * 0', '0 0 1 * *', '15 1,13 * 10,11,3 *');
    const from = fc.integer({ min: at('2026-10-01T00:00:00Z'), max: at('2027-04-10T00:00:00Z') });
    fc.assert(
      fc.property(zone, cron, from, fc.integer({ min: 0, max: 20 * 86_400_000 }), (timezone, pattern, after, span) => {
        const timetable = { cron: pattern, timezone };
        let walked: number | undefined;
        for (let slot = nextSlot(timetable, after); slot !== undefined && slot <= after + span;) {
          walked = slot;
          slot = nextSlot(timetable, slot);
        }
        expect(newestSlot(timetable, after, after + span)).toBe(walked);
      }),
      { numRuns: 25 },
    );
  });

  it('finds the newest slot of ten years in a moment', () => {
    const begun = performance.now();
    const until = at('2036-11-28T00:00:00Z');
    expect(newestSlot({ cron: '* * * * *', timezone: 'UTC' }, at('2026-11-28T00:00:00Z'), until)).toBe(until);
    expect(newestSlot({ cron: '0 0 29 2 *', timezone: 'UTC' }, at('2026-11-28T00:00:00Z'), until)).toBe(
      at('2036-02-29T00:00:00Z'),
    );
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});
