import { z } from 'zod';
import { RUN_EVENTS, runDefinitionSchema } from '../model/run.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';

/** To check the whole of each definition takes most of the time of a list. */
const untouchedSchema = z.object({
  ...runDefinitionSchema.pick({ source: true, playbook: true, options: true }).shape,
  objective: runDefinitionSchema.shape.objective.pick({ title: true, priority: true, deadline: true }),
  repository: z.object({ base: z.string() }),
  submitted: runDefinitionSchema.shape.submitted.unwrap(),
});
export type UntouchedRun = z.infer<typeof untouchedSchema>;

/** A run of the queue to which nothing has happened yet, from its definition alone. undefined: it is none, or more is on record of it. */
export function untouchedRun(ledger: Pick<Ledger, 'events' | 'lastSeq'>, id: string): UntouchedRun | undefined {
  const after = ledger.lastSeq(id) - 1;
  const [defined] = ledger.events({ stream: id, after, types: [RUN_EVENTS.defined] });
  return defined === undefined ? undefined : untouchedSchema.safeParse(defined.data).data;
}
