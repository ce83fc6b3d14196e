import { atMoment, parseDuration, parseMoment } from './duration.ts';

/**
 * A time that has been (epoch ms), in the machine's own time zone: `18:00` (the last one), `2h` (so long ago), `2026-11-27`,
 * `2026-11-27T18:00`, or an ISO time with its zone. undefined: anything else.
 */
export function parseSince(text: string, now: number): number | undefined {
  return parseTime(text, now, -1);
}

/** A time to come (epoch ms), written as for `parseSince`: `18:00` is the next one, and `2h` is in so long. */
export function parseUntil(text: string, now: number): number | undefined {
  return parseTime(text, now, 1);
}

function parseTime(text: string, now: number, way: 1 | -1): number | undefined {
  const ms = parseDuration(text);
  if (ms !== undefined) return now + way * ms;
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hour !== undefined) return timeOfDay(Number(hour), Number(minute), now, way);
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (day !== undefined) return localMoment(day, time);
  const moment = parseMoment(text);
  return moment !== undefined && 'at' in moment ? atMoment(moment, now) : undefined;
}

function timeOfDay(hour: number, minute: number, now: number, way: 1 | -1): number | undefined {
  if (hour > 23 || minute > 59) return undefined;
  const day = new Date(now);
  day.setHours(hour, minute, 0, 0);
  // By the calendar, because a day may have 23 or 25 hours.
  if (way * (day.getTime() - now) < 0) day.setDate(day.getDate() + way);
  return day.getTime();
}

/** Not 30 February, which `Date` takes for a day in March. */
function localMoment(day: string, time: string): number | undefined {
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) || at.getDate() !== Number(day.slice(-2)) ? undefined : at.getTime();
}
