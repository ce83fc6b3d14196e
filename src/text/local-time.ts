/** `19:00` of the machine's own time zone, with the date where it is another day than `now` (both epoch ms). */
export function localTime(at: number, now: number): string {
  const moment = new Date(at);
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  return moment.toDateString() === new Date(now).toDateString() ? time : `${dateOf(moment)} ${time}`;
}

function dateOf(moment: Date): string {
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
