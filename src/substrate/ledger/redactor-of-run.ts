import { z } from 'zod';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { parseStored, type Store } from './store.ts';

const letThroughSchema = z.object({ runtimes: z.record(z.string(), z.object({ env: z.array(z.string()) })) });

/** The redactor for texts that people, agents and operations send to a run (bar S9). */
export function redactorOfRun(store: Store, runId: string): Redactor {
  const known = store.redactors.get(runId);
  if (known !== undefined) return known;
  const row = store.db
    .prepare<[string, string], { data: string }>('SELECT data FROM event WHERE stream = ? AND type = ? LIMIT 1')
    .get(runId, RUN_EVENTS.defined);
  // A single turn has no definition.
  if (row === undefined) return store.redactor([]);
  // This does not validate the definition. A reader that needs a valid one refuses it.
  const defined = letThroughSchema.safeParse(parseStored(store, row.data, `the definition of run ${runId}`)).data;
  const redactor = store.redactor(Object.values(defined?.runtimes ?? {}).flatMap(({ env }) => env));
  store.redactors.set(runId, redactor);
  return redactor;
}
