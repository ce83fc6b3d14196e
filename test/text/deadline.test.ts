import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { parseDeadline } from '../../src/text/deadline.ts';

describe('a deadline', () => {
  it.each([
    ['2026-12-24', '2026-12-25T00:00:00Z'],
    ['2028-02-29', '2028-03-01T00:00:00Z'],
    ['2026-12-24T17:00Z', '2026-12-24T17:00:00Z'],
    ['2026-12-24t17:00z', '2026-12-24T17:00:00Z'],
    ['2026-12-24 17:00:30+01:00', '2026-12-24T16:00:30Z'],
    ['2026-12-24T17:00:30.250 -05:30', '2026-12-24T22:30:30Z'],
  ])('%s is %s', (text, expected) => {
    expect(parseDeadline(text)).toBe(Date.parse(expected));
  });

  it.each([
    ['2026-02-30', 'is not a day of the calendar'],
    ['2026-13-01', 'is not a day of the calendar'],
    ['2026-00-10', 'is not a day of the calendar'],
    ['0000-00-00', 'is not a day of the calendar'],
    ['2026-12-24T24:00Z', 'is not a time of day'],
    ['2026-12-24T17:60Z', 'is not a time of day'],
    ['2026-12-24T17:00+15:00', 'is not a time of day'],
    ['2026-12-24T17:00', 'has a time without a zone; end it with Z or an offset like +01:00'],
  ])('%s: %s', (text, expected) => {
    expect(parseDeadline(text)).toBe(expected);
  });

  it.each(['', '24.12.2026', '2026-12-24 CET', '12/24/2026', '2026-W52', '２０２６-12-24', '2026-12-24\n'])(
    '%j is none',
    (text) => {
      expect(parseDeadline(text)).toMatch(/^is neither a date/);
    },
  );

  property.prop([fc.date({ min: new Date(0), max: new Date('9999-12-30'), noInvalidDate: true })])(
    'reads what Date writes',
    (date) => {
      expect(parseDeadline(date.toISOString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
    },
  );
});
