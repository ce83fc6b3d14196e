import { atMoment, parseDuration, parseMoment } from './duration.ts';

/**
 * A time that has been (epoch ms), in the machine's own time zone: `18:00` (the last one), `2h` (so long ago), `2026-11-27`,
 * `2026-11-27T18:00`, or an ISO time with its zone. undefined: anything else.
 */
export function parseSince(text: string, now: number): number | undefined {
  const ago = parseDuration(text);
  if (ago !== undefined) return now - ago;
  const [, hour, minute] = /^(\d{1,2}):(\d{2})$/.exec(text) ?? [];
  if (hour !== undefined) return lastTime(Number(hour), Number(minute), now);
  const [, day, time = '00:00'] = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?$/.exec(text) ?? [];
  if (day !== undefined) return localMoment(day, time);
  const moment = parseMoment(text);
  return moment !== undefined && 'at' in moment ? atMoment(moment, now) : undefined;
}

function lastTime(hour: number, minute: number, now: number): number | undefined {
  if (hour > 23 || minute > 59) return undefined;
  const day = new Date(now);
  day.setHours(hour, minute, 0, 0);
  // By the calendar, because a day may have 23 or 25 hours.
  if (day.getTime() > now) day.setDate(day.getDate() - 1);
  return day.getTime();
}

/** Not 30 February, which `Date` takes for a day in March. */
function localMoment(day: string, time: string): number | undefined {
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) || at.getDate() !== Number(day.slice(-2)) ? undefined : at.getTime();
}
