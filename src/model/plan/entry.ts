import { z } from 'zod';
import { planChangeSchema } from './change.ts';
import { planEventSchema } from './event.ts';
import { workEventSchema } from './work.ts';

const moment = { seq: z.number().int(), at: z.number().int() };

/** The plan's entries in the ledger. The board is the fold of these, in application order. */
const entrySchema = z.discriminatedUnion('entry', [
  z.object({ entry: z.literal('work'), ...moment, task: z.string(), event: workEventSchema }),
  z.object({ entry: z.literal('event'), ...moment, event: planEventSchema }),
  /** The playbook's changes, including refused ones. */
  z.object({ entry: z.literal('changes'), ...moment, changes: z.array(planChangeSchema) }),
]);
export type PlanEntry = z.infer<typeof entrySchema>;

/** Up to schema 3, feedback and hand-offs were passed on as mail, too. They changed nothing in the plan. */
const oldMailSchema = z
  .object({
    entry: z.literal('event'),
    ...moment,
    event: z.object({ type: z.literal('mail'), kind: z.enum(['hand-off', 'feedback']) }),
  })
  .transform(({ seq, at }): PlanEntry => ({ entry: 'changes', seq, at, changes: [] }));

/** Up to schema 3, a clock that was set back had an entry of its own. */
const oldClockSchema = z
  .object({ entry: z.literal('clock'), ...moment, setBack: z.number().nonnegative().default(0) })
  .transform(
    ({ seq, at, setBack: ms }): PlanEntry => ({
      entry: 'event',
      seq,
      at,
      event: { type: 'clock-set-back', seq, at, ms },
    }),
  );

export const planEntrySchema = z.union([entrySchema, oldMailSchema, oldClockSchema]);
