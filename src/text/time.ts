/** `19:00` of the machine's own time zone, with the date where it is another day than `now` (both epoch ms). */
export function localTime(at: number, now: number): string {
  const moment = new Date(at);
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  return moment.toDateString() === new Date(now).toDateString() ? time : `${dateOf(moment)} ${time}`;
}

/** `19:00:42` of the machine's own time zone. */
export function clockTime(at: number): string {
  const moment = new Date(at);
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':');
}

/** `2026-11-22` of the machine's own time zone. */
export function localDate(at: number): string {
  return dateOf(new Date(at));
}

function dateOf(moment: Date): string {
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

/** `2026-11-22T07:00:00.000Z`, for programs and agents. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** `2026-11-22 07:00:00 UTC`. */
export function utcTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `12 s`, `31 min`, `5 h`, `3 days`: rounded down. */
export function ageOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
