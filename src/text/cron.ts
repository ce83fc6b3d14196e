import { Cron } from 'croner';

/** When something is due: five fields of cron in a time zone by its name. */
export interface Timetable {
  readonly cron: string;
  readonly timezone: string;
}

const HOUR_MS = 3_600_000;
const LONGEST_PATTERN = 100;

/** Why a timetable cannot be used, and which of its keys is wrong; undefined: it can. */
export function timetableProblem({
  cron,
  timezone,
}: Timetable): { readonly key: keyof Timetable; readonly why: string } | undefined {
  if (timezone === '' || nextSlot({ cron: '0 0 * * *', timezone }, 0) === undefined)
    return { key: 'timezone', why: 'is no time zone; take the name of one, such as Europe/Berlin or UTC' };
  if (cron.length > LONGEST_PATTERN || next({ cron, timezone }, 0) === undefined)
    return { key: 'cron', why: 'is no time in the five fields of cron: minute, hour, day of month, month, weekday' };
  if (nextSlot({ cron, timezone }, 0) === undefined) return { key: 'cron', why: 'never comes: there is no such day' };
  return undefined;
}

/** The first slot after this instant (epoch ms); undefined: none comes, or it is no timetable. */
export function nextSlot(timetable: Timetable, after: number): number | undefined {
  return next(timetable, after) ?? undefined;
}

/** The newest slot after `after` and not after `until`. It looks back in growing steps, so that years without a look cost little. */
export function newestSlot(timetable: Timetable, after: number, until: number): number | undefined {
  for (let back = HOUR_MS; ; back *= 8) {
    const from = Math.max(after, until - back);
    let newest: number | undefined;
    for (let slot = nextSlot(timetable, from); slot !== undefined && slot <= until; slot = nextSlot(timetable, slot))
      newest = slot;
    if (newest !== undefined || from === after) return newest;
  }
}

/** null: none comes; undefined: it is no timetable. */
function next({ cron, timezone }: Timetable, after: number): number | null | undefined {
  try {
    const slot = new Cron(cron, { timezone, mode: '5-part', paused: true }).nextRun(new Date(after));
    return slot?.getTime() ?? null;
  } catch {
    // The library throws errors of several kinds, whose words are about its own options.
    return undefined;
  }
}
