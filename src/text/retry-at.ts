/** Only so much of a text is searched, which bounds the work of every pattern. */
const MAX_TEXT = 4000;
const DAY = 24 * 60 * 60_000;

/**
 * Epoch ms of the reset in a text such as `try again at Nov 23rd, 2026 1:04 PM`, `resets 7pm (Europe/Madrid)`, `Resets in 34m13s` or
 * `Retry-After`. A time of day is the next one, in the named zone or else the host's; one that has just passed counts too.
 */
export function parseRetryAt(text: string, now: number, hostZone = defaultZone()): number | undefined {
  const head = text.slice(0, MAX_TEXT);
  return (
    parseUnixStamp(head) ??
    parseSeconds(head, now) ??
    parseDate(head) ??
    parseDuration(head, now) ??
    parseTime(head, now, hostZone)
  );
}

/** `Retry-After: 120`, as a header, a JSON field or `retry_after_ms=500`. */
const SECONDS =
  /\bretry[-_ ]after([-_ ]ms)?["']?\s{0,3}[:=]\s{0,3}["']?(\d{1,9}(?:\.\d{1,6})?)\s?(ms|s|sec|seconds?)?(?![\w:-])/i;

function parseSeconds(text: string, now: number): number | undefined {
  const [, inName, amount, unit] = SECONDS.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const isMs = inName !== undefined || unit?.toLowerCase() === 'ms';
  return Math.ceil(now + Number(amount) * (isMs ? 1 : 1000));
}

/** An HTTP date (`Fri, 20 Nov 2026 11:00:00 GMT`) or one of ISO 8601 with its zone. */
const DATE =
  /\b(?:retry[-_ ]after|resets?|try again|available again)(?: at| on)?["']?\s{0,3}[:=]?\s{0,3}["']?([A-Z][a-z]{2,8}, \d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)? ?(?:Z|[+-]\d{2}:\d{2}))/i;

function parseDate(text: string): number | undefined {
  const instant = Date.parse(DATE.exec(text)?.[1] ?? '');
  return Number.isNaN(instant) ? undefined : instant;
}

function parseUnixStamp(text: string): number | undefined {
  const match = /\|(\d{10})(\d{3})?\b/.exec(text);
  if (match === null) return undefined;
  return match[2] === undefined ? Number(match[1]) * 1000 : Number(`${match[1]}${match[2]}`);
}

/** Up to six amounts with their units, such as `34m13s`, `1m12.345s` or `2 hours and 5 minutes`. */
const DURATION =
  /\b(?:resets?|try again|retry(?:ing)?|available)(?: again)? (?:in|after):? ?((?:\d{1,6}(?:\.\d{1,6})? ?(?:days?|hours?|minutes?|seconds?|hrs?|mins?|secs?|ms|d|h|m|s)(?![a-z])(?:,? and |, | )?){1,6})/i;

function parseDuration(text: string, now: number): number | undefined {
  const [, amounts] = DURATION.exec(text) ?? [];
  if (amounts === undefined) return undefined;
  let total = 0;
  for (const [, amount, unit] of amounts.matchAll(/(\d+(?:\.\d+)?) ?(ms|[dhms])[a-z]*/gi)) {
    total += Number(amount) * (UNIT_MS[unit?.toLowerCase() ?? ''] ?? 1000);
  }
  return total > 0 ? Math.ceil(now + total) : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { d: DAY, h: 60 * 60_000, m: 60_000, s: 1000, ms: 1 };

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const TIME =
  /\b(?:resets?|try again|available again)(?: at| on)? (?:([A-Z][a-z]{2})[a-z]{0,6} (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?(?: at)? )?(\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: \(([\w/+-]{1,40})\)| (UTC|GMT)\b)?/i;

function parseTime(text: string, now: number, hostZone: string): number | undefined {
  const [whole, monthText, dayText, yearText, hourText, minuteText, half, named, plain] = TIME.exec(text) ?? [];
  if (whole === undefined || (minuteText === undefined && half === undefined)) return undefined;
  const hour = hourOfDay(Number(hourText), half?.toLowerCase());
  const minute = Number(minuteText ?? 0);
  if (hour === undefined || minute > 59) return undefined;
  const zone = named ?? plain;
  const where = isZone(zone) ? zone : hostZone;
  if (monthText === undefined) return nextTimeOfDay(now, hour, minute, where);
  const month = MONTHS.indexOf(monthText.toLowerCase());
  const day = Number(dayText);
  if (month < 0 || day < 1 || day > 31) return undefined;
  const year = yearText === undefined ? new Date(localClock(now, where)).getUTCFullYear() : Number(yearText);
  const instant = instantOf(Date.UTC(year, month, day, hour, minute), where);
  // Without a year, a day long ago is one of next year.
  if (yearText !== undefined || instant > now - 180 * DAY) return instant;
  return instantOf(Date.UTC(year + 1, month, day, hour, minute), where);
}

function hourOfDay(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour <= 23 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === 'pm' ? 12 : 0);
}

/** A time that passed this recently is still meant: texts have no seconds, and squad reads them a little later. */
const JUST_PASSED = 5 * 60_000;

/** The first instant at which the zone's clocks show this time, over both kinds of daylight-saving change. */
function nextTimeOfDay(now: number, hour: number, minute: number, zone: string): number {
  const midnight = Math.floor(localClock(now, zone) / DAY) * DAY;
  // By the calendar of the zone, whose days can have 23 hours or 25.
  const instants = [-1, 0, 1, 2].flatMap((days) =>
    instantsOf(midnight + days * DAY + hour * 60 * 60_000 + minute * 60_000, zone),
  );
  return instants.find((instant) => instant > now - JUST_PASSED) ?? now + DAY;
}

function instantOf(wanted: number, zone: string): number {
  return instantsOf(wanted, zone)[0] ?? wanted;
}

/** The instants at which the zone's clocks show `wanted`: two for an hour that comes twice. */
function instantsOf(wanted: number, zone: string): number[] {
  const candidates = [wanted - DAY, wanted + DAY].map((near) => wanted - offsetAt(near, zone));
  const shown = candidates.filter((instant) => instant + offsetAt(instant, zone) === wanted);
  return shown.length > 0 ? [...new Set(shown)].toSorted((one, other) => one - other) : [Math.max(...candidates)];
}

/** Zone offset in ms at about this instant. */
function offsetAt(instant: number, zone: string): number {
  return localClock(instant, zone) - Math.floor(instant / 1000) * 1000;
}

/** The instant at which UTC's clocks show what the zone's clocks show at this one, in whole seconds. */
function localClock(instant: number, zone: string): number {
  // Sweden writes `2026-11-22 06:41:42`.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${format.format(instant).replace(' ', 'T')}Z`);
}

function isZone(zone: string | undefined): zone is string {
  if (zone === undefined) return false;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    // This machine does not know the zone, so the host's own is used.
    return false;
  }
}

function defaultZone(): string {
  return new Intl.DateTimeFormat('en-US').resolvedOptions().timeZone;
}
