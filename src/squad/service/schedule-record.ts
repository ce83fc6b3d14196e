import { z } from 'zod';
import type { Schedule } from '../../model/schedule.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import type { Records } from '../../substrate/ports/records.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';

const KIND = 'schedule';
/** Slots without a run that are kept to be shown. */
const MOST_LEFT = 5;
const LONGEST_WHY = 500;
/** A clock that is set back by less than this, by a person or a time zone, starts nothing again. */
const MOST_AHEAD_MS = 86_400_000;

const leftSlotSchema = z.object({
  slot: z.int(),
  at: z.int(),
  outcome: z.enum(['skipped', 'failed']),
  why: z.string(),
});
export type LeftSlot = z.infer<typeof leftSlotSchema>;

const slotRunSchema = z.object({
  slot: z.int(),
  at: z.int(),
  /** Its id. */
  run: z.string(),
  name: z.string(),
  /** The commit that was checked out. */
  head: z.string(),
});
type SlotRun = z.infer<typeof slotRunSchema>;

const recordSchema = z.object({
  cron: z.string(),
  timezone: z.string(),
  /** Slots up to this instant are settled. */
  after: z.int(),
  /** Its newest run. */
  started: slotRunSchema.optional(),
  /** The newest slots that started none, the newest first. */
  left: z.array(leftSlotSchema),
});
export type ScheduleRecord = z.infer<typeof recordSchema>;

/** undefined: the service has not seen this schedule yet. */
export function scheduleRecord(ledger: Pick<Records, 'record'>, name: string): ScheduleRecord | undefined {
  return recordSchema.safeParse(ledger.record(KIND, name)?.value).data;
}

/**
 * Whether its slots count from now on: it is new, has another time than before, or its last slot lies days ahead, because a clock was wrong.
 * A slot that has had its run by then still has that one alone, by its key.
 */
export function beginsNow(
  record: ScheduleRecord | undefined,
  { cron, timezone }: Pick<Schedule, 'cron' | 'timezone'>,
  now: number,
): boolean {
  return record?.cron !== cron || record.timezone !== timezone || record.after > now + MOST_AHEAD_MS;
}

/** Begins to count the slots of schedules that begin now. */
export function noteSchedules(ledger: Records, schedules: readonly Schedule[], now: number): void {
  const others = schedules.filter((schedule) => beginsNow(scheduleRecord(ledger, schedule.name), schedule, now));
  for (const { name, cron, timezone } of others) {
    const { started, left = [] } = scheduleRecord(ledger, name) ?? {};
    write(ledger, name, { cron, timezone, after: now, left, ...(started === undefined ? {} : { started }) });
  }
}

export function recordRun(ledger: Records, name: string, started: SlotRun): void {
  settle(ledger, name, started.slot, (record) => ({ ...record, started }));
}

/** Records a slot that started no run. */
export function recordLeft(ledger: Records, name: string, left: LeftSlot, redactor: Pick<Redactor, 'text'>): void {
  const why = redactor.text(plainLine(left.why, LONGEST_WHY));
  settle(ledger, name, left.slot, (record) => ({
    ...record,
    left: [{ ...left, why }, ...record.left].slice(0, MOST_LEFT),
  }));
}

/** A slot that is settled already stays as it is. */
function settle(ledger: Records, name: string, slot: number, change: (record: ScheduleRecord) => ScheduleRecord): void {
  const record = scheduleRecord(ledger, name);
  if (record === undefined || record.after >= slot) return;
  write(ledger, name, { ...change(record), after: slot });
}

function write(ledger: Records, name: string, value: ScheduleRecord): void {
  ledger.writeRecord({ kind: KIND, id: name, value: plainJson(value) });
}
