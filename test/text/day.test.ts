import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { dayOf, isTimeZone } from '../../src/text/day.ts';

const HOUR = 3_600_000;

it.each<[zone: string, at: string, from: string, until: string]>([
  ['UTC', '2026-10-04T10:00:00Z', '2026-10-04T00:00:00Z', '2026-10-05T00:00:00Z'],
  ['Europe/Berlin', '2027-03-28T10:00:00Z', '2027-03-27T23:00:00Z', '2027-03-28T22:00:00Z'],
  ['Europe/Berlin', '2026-10-25T22:59:59.999Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  ['Europe/Berlin', '2026-10-25T23:00:00Z', '2026-10-25T23:00:00Z', '2026-10-26T23:00:00Z'],
  ['Asia/Seoul', '2026-10-25T14:59:59.999Z', '2026-10-24T15:00:00Z', '2026-10-25T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-04T10:00:00Z', '2026-10-03T13:30:00Z', '2026-10-04T13:00:00Z'],
  // Midnight comes twice, or never.
  ['America/Havana', '2026-11-01T05:30:00Z', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ['Africa/Cairo', '2026-04-24T12:00:00Z', '2026-04-23T22:00:00Z', '2026-04-24T21:00:00Z'],
  ['Asia/Beirut', '2026-10-24T21:30:00Z', '2026-10-23T21:00:00Z', '2026-10-24T22:00:00Z'],
  // A whole date never came.
  ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'],
])('a day of %s holds %s', (zone, at, from, until) => {
  expect(dayOf(Date.parse(at), zone)).toEqual({ from: Date.parse(from), until: Date.parse(until) });
});

const zones = [
  'Europe/Berlin',
  'America/St_Johns',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Pacific/Kiritimati',
  '-11:30',
];
const anyTime = fc.integer({ min: Date.parse('2005-01-01'), max: Date.parse('2040-01-01') });

test.prop([fc.constantFrom(...zones), anyTime], { numRuns: 150 })(
  'days share no moment and leave none out',
  (zone, at) => {
    const day = dayOf(at, zone);
    expect(day.from <= at && at < day.until).toBe(true);
    expect(dayOf(day.from - 1, zone).until).toBe(day.from);
    expect(dayOf(day.until, zone).from).toBe(day.until);
    expect((day.until - day.from) / HOUR).toBeGreaterThanOrEqual(22.5);
    expect((day.until - day.from) / HOUR).toBeLessThanOrEqual(25.5);
  },
);

it.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Asia/Seul', false],
  ['', false],
  ['../etc/passwd', false],
])('%j as a time zone: %s', (name, is) => expect(isTimeZone(name)).toBe(is));
