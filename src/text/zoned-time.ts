const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const MOST_KNOWN = 10_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, number>();

/** Whether the machine knows a time zone of this name. */
export function isTimeZone(name: string): boolean {
  try {
    return formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

/** `2026-03-25T08:30:00+09:00`: an instant (epoch ms) by the clocks of a zone. */
export function zonedTime(at: number, timezone: string): string {
  const minutes = offsetMinutes(at, timezone);
  const ahead = Math.abs(minutes);
  return `${localText(at, minutes)}${minutes < 0 ? '-' : '+'}${two(Math.trunc(ahead / 60))}:${two(ahead % 60)}`;
}

/** `260325` and `08:30`: the date and the time of day by the clocks of a zone. */
export function zonedDay(at: number, timezone: string): { readonly day: string; readonly time: string } {
  const text = localText(at, offsetMinutes(at, timezone));
  return { day: text.slice(2, 10).replaceAll('-', ''), time: text.slice(11, 16) };
}

/** Formatting takes a tenth of a millisecond. No zone changes its clocks within a quarter of an hour of UTC. */
function offsetMinutes(at: number, timezone: string): number {
  const key = `${Math.floor(at / QUARTER_MS)} ${timezone}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  if (offsets.size >= MOST_KNOWN) offsets.clear();
  const found = findOffset(at, timezone);
  offsets.set(key, found);
  return found;
}

/** How far the clocks of a zone are ahead of UTC. Seconds, which zones had long ago, are left out. */
function findOffset(at: number, timezone: string): number {
  const parts = formatOf(timezone).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours = 0, minutes = 0] = /^GMT(?:([+\-\u2212])(\d+):?(\d+)?)?/.exec(name) ?? [];
  const ahead = Number(hours) * 60 + Number(minutes);
  return sign === '+' ? ahead : -ahead;
}

function localText(at: number, minutes: number): string {
  return new Date(at + minutes * MINUTE_MS).toISOString().slice(0, 19);
}

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' });
  formats.set(timezone, made);
  return made;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
