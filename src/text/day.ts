/** The moments from `from` to before `until` (epoch ms). */
export interface Day {
  readonly from: number;
  readonly until: number;
}

const HOUR = 3_600_000;
const SECOND = 1_000;
/** Zones differ from UTC by at most 14 hours. */
const FARTHEST = 16 * HOUR;

/** Most questions are about the day of the question before, and to find one takes a while. */
let last: { readonly zone: string; readonly day: Day } | undefined;

/**
 * The day of a time zone in which a moment lies: 23 or 25 hours long where its clocks change. Days share no moment and leave none out,
 * also where the same date comes twice or never.
 */
export function dayOf(at: number, zone: string): Day {
  if (last?.zone === zone && isIn(last.day, at)) return last.day;
  const date = dateIn(zone, at);
  for (const first of [date, date - 24 * HOUR, date + 24 * HOUR]) {
    const day = { from: beginOf(first, zone), until: beginOf(first + 24 * HOUR, zone) };
    if (!isIn(day, at)) continue;
    last = { zone, day };
    return day;
  }
  throw new RangeError(`no day of ${zone} holds ${at}`);
}

export function isIn({ from, until }: Day, at: number): boolean {
  return from <= at && at < until;
}

export function isTimeZone(name: string): boolean {
  try {
    return formatIn(name) !== undefined;
  } catch {
    return false;
  }
}

/** The first moment whose date in the zone is this one or a later one. `date`: as UTC midnight. */
function beginOf(date: number, zone: string): number {
  let [before, at] = [(date - FARTHEST) / SECOND, (date + FARTHEST) / SECOND];
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (dateIn(zone, middle * SECOND) >= date) at = middle;
    else before = middle;
  }
  return at * SECOND;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError for a name that is none. */
function formatIn(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const parts = {
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  } as const;
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, ...parts });
  formats.set(zone, format);
  return format;
}

/** The date that a zone has at a moment, as UTC midnight. */
function dateIn(zone: string, at: number): number {
  const parts = formatIn(zone).formatToParts(at);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'));
}
