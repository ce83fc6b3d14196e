/** A moment as it was typed: so long from now, or a point in time (epoch ms). */
export type Moment = { readonly in: number } | { readonly at: number };

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** `3600` (seconds), `90s`, `30m`, `2h`, `1d`, or an ISO date and time with its zone. undefined: none of these. */
export function parseMoment(text: string): Moment | undefined {
  const [, amount = '', unit = 's'] = /^(\d{1,9})(s|m|h|d)?$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit] ?? 0);
  if (ms > 0) return { in: ms };
  const at = ISO.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at };
}

export function atMoment(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now + moment.in;
}
