import { z } from 'zod';
import { planChangeSchema } from './change.ts';
import { planEventSchema } from './event.ts';
import { workEventSchema } from './work.ts';

const moment = { seq: z.number().int(), at: z.number().int() };

/** The plan's entries in the ledger. The board is the fold of these, in application order. */
export const planEntrySchema = z.discriminatedUnion('entry', [
  z.object({ entry: z.literal('work'), ...moment, task: z.string(), event: workEventSchema }),
  z.object({ entry: z.literal('event'), ...moment, event: planEventSchema }),
  /** The playbook's changes, including refused ones. */
  z.object({ entry: z.literal('changes'), ...moment, changes: z.array(planChangeSchema) }),
]);
export type PlanEntry = z.infer<typeof planEntrySchema>;
