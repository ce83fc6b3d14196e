const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Epoch ms, or the problem as text. A date alone means the end of that day in UTC. */
export function parseDeadline(text: string): number | string {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)? ?(?:([Zz])|([+-])(\d{2}):(\d{2}))?)?$/.exec(
      text,
    );
  if (match === null) return 'is neither a date (2026-12-24) nor a date and time with a zone (2026-12-24T17:00+01:00)';
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const midnight = Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0);
  const date = new Date(midnight);
  if (date.getUTCFullYear() !== year || date.getUTCMonth() + 1 !== month || date.getUTCDate() !== day) {
    return 'is not a day of the calendar';
  }
  if (match[4] === undefined) return midnight + DAY;
  const [zone, sign] = [match[7], match[8]];
  if (zone === undefined && sign === undefined)
    return 'has a time without a zone; end it with Z or an offset like +01:00';
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59 || offsetHour > 14 || offsetMinute > 59) {
    return 'is not a time of day';
  }
  const offset = (offsetHour * 60 + offsetMinute) * MINUTE * (sign === '-' ? -1 : 1);
  return midnight + ((hour ?? 0) * 60 + (minute ?? 0)) * MINUTE + (second ?? 0) * 1000 - offset;
}
