import { z } from 'zod';
import type { RunDefinition } from '../../model/run.ts';
import { plainJson, type Json } from '../../text/json.ts';
import type { TrustItem } from '../preflight/trust-item.ts';

/** Read by people and workers before a run is restored. It decides nothing: a worker looks at the restored records. */
export const aboutSchema = z.object({
  title: z.string(),
  /** The branch that the submitter had checked out. Absent: none. */
  branch: z.string().optional(),
  runtimes: z.array(z.string()),
  items: z.array(z.object({ from: z.string(), run: z.string() })),
});
type AboutRun = z.infer<typeof aboutSchema>;

export function aboutOf(definition: RunDefinition, items: readonly TrustItem[]): Json {
  const { objective, repository, agents } = definition;
  return plainJson({
    title: objective.title,
    branch: repository.branch,
    runtimes: [...new Set(agents.map(({ runtime }) => runtime))],
    items: items.map(({ from, run }) => ({ from, run })),
  } satisfies AboutRun);
}
