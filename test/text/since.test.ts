import { describe, expect, it } from 'vitest';
import { parseSince } from '../../src/text/since.ts';

const NOW = new Date('2026-11-28T07:30:00').getTime();
const local = (text: string): number => new Date(text).getTime();

describe('a time that has been', () => {
  it.each<[string, number | undefined]>([
    ['18:00', local('2026-11-27T18:00')],
    ['7:30', NOW],
    ['07:31', local('2026-11-27T07:31')],
    ['00:00', local('2026-11-28T00:00')],
    ['2h', NOW - 7_200_000],
    ['90s', NOW - 90_000],
    ['1d', NOW - 86_400_000],
    ['2026-11-27', local('2026-11-27T00:00')],
    ['2026-11-27T18:05', local('2026-11-27T18:05')],
    ['2026-11-27 18:05', local('2026-11-27T18:05')],
    ['2026-11-27T18:05:00Z', Date.parse('2026-11-27T18:05:00Z')],
    ['2026-12-24', local('2026-12-24T00:00')],
    ['2026-02-30', undefined],
    ['2026-13-01', undefined],
    ['24:00', undefined],
    ['18:60', undefined],
    ['18', undefined],
    ['3600', undefined],
    ['0h', undefined],
    ['yesterday', undefined],
    ['', undefined],
    ['-2h', undefined],
  ])('%j', (text, expected) => {
    expect(parseSince(text, NOW)).toBe(expected);
  });

  it('by the clock on the wall is never more than a day ago, also when a day has 25 hours', () => {
    for (let hour = 0; hour < 24; hour += 1) {
      const at = parseSince(`${hour}:15`, NOW) ?? 0;
      expect(NOW - at).toBeGreaterThanOrEqual(0);
      expect(NOW - at).toBeLessThan(25 * 3_600_000);
      expect(new Date(at).getHours()).toBe(hour);
    }
  });
});
