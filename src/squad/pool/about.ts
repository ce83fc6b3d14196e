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
  /** Those that each machine has or lacks: the run names no program of theirs, no file and no stand-in. */
  probed: z.array(z.string()).default([]),
  items: z.array(z.object({ from: z.string(), run: z.string() })),
});
type AboutRun = z.output<typeof aboutSchema>;

export function aboutOf(definition: RunDefinition, items: readonly TrustItem[]): Json {
  const { objective, repository, agents, runtimes } = definition;
  const used = [...new Set(agents.map(({ runtime }) => runtime))];
  return plainJson({
    title: objective.title,
    branch: repository.branch,
    runtimes: used,
    probed: used.filter((name) => isOfMachine(runtimes[name])),
    items: items.map(({ from, run }) => ({ from, run })),
  } satisfies AboutRun);
}

function isOfMachine(settings: RunDefinition['runtimes'][string] | undefined): boolean {
  return settings?.command === undefined && settings?.config === undefined && settings?.fallback === undefined;
}
