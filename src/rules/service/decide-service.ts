import type { Schedule } from '../../model/schedule.ts';
import { newestSlot, nextSlot, type Timetable } from '../../text/cron.ts';

/** A schedule, and what is on record of it. */
interface ScheduleView extends Pick<Schedule, 'name' | 'cron' | 'timezone'> {
  /** Its slots up to this instant are settled. */
  readonly after: number;
  /** Its last attempt to submit found the repository busy, and the next one is then. */
  readonly notBefore?: number | undefined;
  /** Why its next slot is skipped, as it was looked up for the slot that is due. */
  readonly skip?: string | undefined;
}

/** All that the service knows: epoch ms are of the machine's clock, which may be set back. */
export interface ServiceView {
  readonly now: number;
  readonly schedules: readonly ScheduleView[];
  /** Who drives the runs of this repository; `none`: no engine. */
  readonly engine: 'none' | 'service' | 'other';
  /** Whether a run could move if an engine had it. Not one that a cap of the day holds back. */
  readonly canMove: boolean;
  /** When a run that waits for a time could move. */
  readonly wakesAt?: number | undefined;
  /** After an engine has failed, or has left things as they are. */
  readonly engineNotBefore?: number | undefined;
  /** A cap of the day is reached: until then no run begins, so no slot is submitted. Of the slots of that time the newest counts. */
  readonly cappedUntil?: number | undefined;
  /** Something has changed that the team decides by, or its time has come. */
  readonly teamIsDue?: boolean | undefined;
}

export type ServiceDecision =
  | { readonly do: 'submit'; readonly schedule: string; readonly slot: number }
  | { readonly do: 'skip'; readonly schedule: string; readonly slot: number; readonly why: string }
  | { readonly do: 'step-team' }
  | { readonly do: 'start-engine' }
  /** undefined: until something changes. */
  | { readonly do: 'wait'; readonly until: number | undefined };

/** The one thing that the service does next. Slots come first, the earlier one before the later. */
export function decideService(view: ServiceView): ServiceDecision {
  const { now, engine, canMove, cappedUntil } = view;
  const schedules = isLater(cappedUntil, now) ? [] : view.schedules;
  const due = schedules
    .flatMap((schedule) => {
      const slot = dueSlot(schedule, now);
      return slot === undefined || isLater(schedule.notBefore, now) ? [] : [{ schedule, slot }];
    })
    .toSorted((a, b) => a.slot - b.slot || (a.schedule.name < b.schedule.name ? -1 : 1));
  const [first] = due;
  if (first !== undefined) {
    const { schedule, slot } = first;
    const about = { schedule: schedule.name, slot };
    return schedule.skip === undefined ? { do: 'submit', ...about } : { do: 'skip', ...about, why: schedule.skip };
  }
  if (view.teamIsDue === true) return { do: 'step-team' };
  const waits = engineWaits(view);
  if (engine === 'none' && canMove && waits.length === 0) return { do: 'start-engine' };
  const moments = [...schedules.map((one) => momentOf(one, now)), ...(engine === 'none' ? waits : []), cappedUntil];
  const known = moments.filter((at) => at !== undefined).filter((at) => at > now);
  return { do: 'wait', until: known.length === 0 ? undefined : Math.min(...known) };
}

/** The slot of a schedule that is to be settled now. Of missed slots the newest counts. */
export function dueSlot(
  { cron, timezone, after }: Timetable & { readonly after: number },
  now: number,
): number | undefined {
  return after >= now ? undefined : newestSlot({ cron, timezone }, after, now);
}

/** When the schedule needs a look. A clock that was set back makes it wait for slots that it has not had. */
function momentOf(schedule: ScheduleView, now: number): number | undefined {
  if (isLater(schedule.notBefore, now)) return schedule.notBefore;
  return nextSlot(schedule, Math.max(schedule.after, now));
}

function engineWaits({ now, canMove, wakesAt, engineNotBefore }: ServiceView): number[] {
  const holds = canMove ? [engineNotBefore] : [wakesAt];
  return holds.filter((at) => at !== undefined).filter((at) => at > now);
}

function isLater(at: number | undefined, now: number): boolean {
  return at !== undefined && at > now;
}

/** The id of what one slot starts: the same slot is one run, however often it is submitted. */
export function slotKey(schedule: string, slot: number): string {
  return `slot:${schedule}:${new Date(slot).toISOString()}`;
}

/** The name of a slot's run, by its instant: an hour that a zone repeats has two. */
export function slotRunName(schedule: string, slot: number): string {
  const at = new Date(slot).toISOString().slice(2, 16).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${schedule}-${at}z`;
}
