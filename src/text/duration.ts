const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** `90s`, `30m`, `2h` or `1d`, in ms; undefined: anything else, or no time at all. */
export function parseDuration(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit] ?? 0);
  return ms > 0 ? ms : undefined;
}

/** A time span from now, or a point in time (epoch ms). */
export type Moment = { readonly in: number } | { readonly at: number };

/** `3600` (seconds), a duration, or an ISO date and time with its zone; undefined: anything else. */
export function parseMoment(text: string): Moment | undefined {
  const ms = parseDuration(/^\d+$/.test(text) ? `${text}s` : text);
  if (ms !== undefined) return { in: ms };
  const at = ISO.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at };
}

export function atMoment(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now + moment.in;
}

/** `02:34:15`: rounded down, so that it changes every second however long it is. */
export function clockSpan(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((value) => String(value).padStart(2, '0')).join(':');
}

/** `42s`, `12m04s`, `7h47m`, `3d04h`: rounded down, in at most six characters up to 99 days. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${two(Math.floor(seconds / 60) % 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${two(Math.floor(seconds / 3600) % 24)}h`;
}
