import { z } from 'zod';
import { planChangeSchema } from './change.ts';
import { planEventSchema } from './event.ts';
import { workEventSchema } from './work.ts';

const moment = { seq: z.number().int(), at: z.number().int() };

/** What the ledger keeps of the plan: the board is the fold of these, in application order. */
const entrySchema = z.discriminatedUnion('entry', [
  z.object({ entry: z.literal('work'), ...moment, task: z.string(), event: workEventSchema }),
  /** From outside: mail, answers, timers, requests. */
  z.object({ entry: z.literal('event'), ...moment, event: planEventSchema }),
  /** What the playbook wanted, refused changes too. */
  z.object({ entry: z.literal('changes'), ...moment, changes: z.array(planChangeSchema) }),
  /** `setBack`: the clock was set back by this many ms, so every wait ends earlier by that much. */
  z.object({ entry: z.literal('clock'), ...moment, setBack: z.number().nonnegative().optional() }),
]);

/** Up to schema 3, feedback and hand-offs were passed on as mail, too. They changed nothing in the plan. */
const oldMailSchema = z
  .object({
    entry: z.literal('event'),
    ...moment,
    event: z.object({ type: z.literal('mail'), kind: z.enum(['hand-off', 'feedback']) }),
  })
  .transform(({ seq, at }) => ({ entry: 'changes' as const, seq, at, changes: [] }));

export const planEntrySchema = z.union([entrySchema, oldMailSchema]);
export type PlanEntry = z.infer<typeof entrySchema>;
