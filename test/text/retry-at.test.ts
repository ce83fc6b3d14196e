import { describe, expect, it } from 'vitest';
import { parseRetryAt } from '../../src/text/retry-at.ts';

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
    ['HTTP 429, Retry-After: 120', '2026-11-20T10:02:00.000Z'],
    ['{"retry_after": 1.5}', '2026-11-20T10:00:01.500Z'],
    ['retry-after-ms: 250', '2026-11-20T10:00:00.250Z'],
    ['Retry-After: 30s', '2026-11-20T10:00:30.000Z'],
    ['Retry-After: Fri, 20 Nov 2026 11:00:00 GMT', '2026-11-20T11:00:00.000Z'],
    ['"retry-after":"Fri, 20 Nov 2026 11:00:00 GMT"', '2026-11-20T11:00:00.000Z'],
    ['retry-after: 2026-11-20T12:30:00+01:00', '2026-11-20T11:30:00.000Z'],
    ['Your limit resets at 2026-11-20T19:00:00Z.', '2026-11-20T19:00:00.000Z'],
    ['resets 7pm UTC', '2026-11-20T19:00:00.000Z'],
    ['resets 7pm (Etc/GMT+5)', '2026-11-21T00:00:00.000Z'],
    ['resets 7pm (America/Argentina/Buenos_Aires)', '2026-11-20T22:00:00.000Z'],
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

  it.each([
    // The day has 23 hours: a day later by the clock is not 24 hours later.
    ['resets 11pm (Europe/Madrid)', '2026-03-28T22:30:00Z', '2026-03-29T21:00:00.000Z'],
    ['resets 7pm (Europe/Madrid)', '2026-03-28T23:00:00Z', '2026-03-29T17:00:00.000Z'],
    // The hour that is left out.
    ['resets 2:30am (Europe/Madrid)', '2026-03-28T23:00:00Z', '2026-03-29T01:30:00.000Z'],
    // The hour that comes twice: the first that is still to come.
    ['resets 2:50am (Europe/Madrid)', '2026-10-25T00:45:00Z', '2026-10-25T00:50:00.000Z'],
    ['resets 2:20am (Europe/Madrid)', '2026-10-25T00:45:00Z', '2026-10-25T01:20:00.000Z'],
    ['resets 1am (America/New_York)', '2026-11-01T04:30:00Z', '2026-11-01T05:00:00.000Z'],
    ['try again at 11:28 AM', '2038-01-19T10:00:00Z', '2038-01-19T11:28:00.000Z'],
  ])('%s, asked at %s', (text, at, expected) => {
    expect(iso(text, Date.parse(at))).toBe(expected);
  });

  it.each([
    ['try again at 11:28 AM.', '2026-11-20T11:28:40Z', '2026-11-20T11:28:00.000Z'],
    ['try again at 11:28 AM.', '2026-11-20T11:40:00Z', '2026-11-21T11:28:00.000Z'],
    ['resets 11:59pm (UTC)', '2026-11-21T00:01:00Z', '2026-11-20T23:59:00.000Z'],
  ])('%s, read at %s: what has just passed is not tomorrow’s', (text, at, expected) => {
    expect(iso(text, Date.parse(at))).toBe(expected);
  });

  it('reads a megabyte of digits and units in linear time', () => {
    expect(parseRetryAt(`resets in ${'1m'.repeat(500_000)}!`, now, 'UTC')).toBeDefined();
  });
});
