import type { Redactor } from '../../model/redaction/redactor.ts';
import { pauseAfter } from '../../rules/service/engine-pause.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { recordLeft, scheduleRecord } from './schedule-record.ts';

const MOST_TRIES = 5;
const FAR = 8_640_000_000_000_000;

/** Has slots submitted, each by a process of its own, which records what came of it. */
export function createServiceSlots({
  clock,
  redactor,
  submit,
  write,
  say,
  changed,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly redactor: Pick<Redactor, 'text'>;
  /** Resolves with its last words once the process has ended. */
  readonly submit: (schedule: string, slot: number) => Promise<string>;
  readonly write: (work: (ledger: Ledger) => void) => Promise<void>;
  readonly say: (text: string) => void;
  readonly changed: () => void;
}) {
  const tries = new Map<string, { slot: number; times: number; notBefore: number }>();
  const attempt = async (schedule: string, slot: number, times: number): Promise<void> => {
    const words = await submit(schedule, slot);
    await write((ledger) => {
      const isSettled = (scheduleRecord(ledger, schedule)?.after ?? slot) >= slot;
      if (isSettled) {
        say(`${schedule}: ${words}`);
        return void tries.delete(schedule);
      }
      if (times < MOST_TRIES) {
        const pauseMs = 10 * pauseAfter(times);
        say(`${schedule}: ${words}; the next try is in ${pauseMs / 1000} s`);
        return void tries.set(schedule, { slot, times, notBefore: clock.now() + pauseMs });
      }
      recordLeft(ledger, schedule, { slot, at: clock.now(), outcome: 'failed', why: words }, redactor);
      say(`${schedule}: ${words}`);
      tries.delete(schedule);
    });
  };
  return {
    /** Until when the slots of this schedule wait. */
    notBefore: (schedule: string): number | undefined => tries.get(schedule)?.notBefore,
    submit: (schedule: string, slot: number): void => {
      const before = tries.get(schedule);
      const times = before?.slot === slot ? before.times + 1 : 1;
      // While its process works, nothing else of the schedule is due.
      tries.set(schedule, { slot, times, notBefore: FAR });
      void attempt(schedule, slot, times)
        .catch((error: unknown) => {
          say(`${schedule}: ${String(error)}`);
          tries.set(schedule, { slot, times, notBefore: clock.now() + pauseAfter(MOST_TRIES) });
        })
        .finally(changed);
    },
  };
}
