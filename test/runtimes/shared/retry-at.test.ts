import { describe, expect, it } from 'vitest';
import { parseRetryAt } from '../../../src/runtimes/shared/retry-at.ts';

const now = Date.parse('2026-11-20T10:00:00Z');
const iso = (text: string, at = now, zone = 'UTC') => {
  const when = parseRetryAt(text, at, zone);
  return when === undefined ? undefined : new Date(when).toISOString();
};

describe('parseRetryAt', () => {
  it.each([
    ['You’ve hit your usage limit. Upgrade to Pro or try again at 11:28 AM.', '2026-11-20T11:28:00.000Z'],
    ['try again at 9:00 AM.', '2026-11-21T09:00:00.000Z'],
    ["You've hit your limit · resets 7pm (Europe/Madrid)", '2026-11-20T18:00:00.000Z'],
    ['limit · resets 12am (Asia/Seoul)', '2026-11-20T15:00:00.000Z'],
    ['resets 7pm (No/Zone)', '2026-11-20T19:00:00.000Z'],
    ['Individual quota reached. Resets in 34m13s.', '2026-11-20T10:34:13.000Z'],
    ['try again in 2 hours and 5 minutes', '2026-11-20T12:05:00.000Z'],
    ['try again in 1m12.345s', '2026-11-20T10:01:12.345Z'],
    ['try again in 1h2m3.5s.', '2026-11-20T11:02:03.500Z'],
    ['or try again at Nov 23rd, 2026 1:04 PM.', '2026-11-23T13:04:00.000Z'],
    ['resets Nov 23, 5pm (UTC)', '2026-11-23T17:00:00.000Z'],
    ['resets Jan 2 at 9am (Europe/Madrid)', '2027-01-02T08:00:00.000Z'],
    ['Please retry after 30 seconds', '2026-11-20T10:00:30.000Z'],
    ['try again in 1.5s', '2026-11-20T10:00:01.500Z'],
    ['Claude AI usage limit reached|1795172400', '2026-11-20T11:00:00.000Z'],
  ])('reads %s', (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it.each(['resets soon', 'try again at 25:00', 'resets 13pm', 'try again', '', 'resets 7'])(
    'finds no time in %j',
    (text) => {
      expect(parseRetryAt(text, now, 'UTC')).toBeUndefined();
    },
  );

  it('crosses a change to winter time by wall clock', () => {
    const saturdayNight = Date.parse('2026-10-24T22:00:00Z');
    expect(iso('resets 7pm (Europe/Madrid)', saturdayNight)).toBe('2026-10-25T18:00:00.000Z');
  });

  it('reads a megabyte of digits and units in linear time', () => {
    expect(parseRetryAt(`resets in ${'1m'.repeat(500_000)}!`, now, 'UTC')).toBeDefined();
  });
});
