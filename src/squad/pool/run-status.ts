import { z } from 'zod';
import { RUN_STATES } from '../../model/run-state.ts';
import type { PoolRun, SeenWorker } from '../../substrate/ports/pool.ts';
import { summarizeRun, type RunSummary } from '../../view/run-summary.ts';
import { plainJson, type Json } from '../../text/json.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

/** The words of a worker about a run, for lists of runs. */
const statusSchema = z.object({
  state: z.enum(RUN_STATES),
  tasks: z.object({ all: z.int(), done: z.int() }),
  /** It waits for a person. */
  asks: z.boolean(),
  headline: z.string().nullable(),
});
export type PoolRunStatus = z.infer<typeof statusSchema>;

/** undefined: no worker has said anything. */
export function statusOf({ status }: Pick<PoolRun, 'status'>): PoolRunStatus | undefined {
  return statusSchema.safeParse(status).data;
}

export function readPoolStatus(workspace: OpenedWorkspace, runId: string): Json {
  const summary = lookIn(workspace, (ledger, lockedBy, now) => {
    const row = ledger.run(runId);
    return row && summarizeRun(ledger, row, lockedBy, now);
  });
  return summary === undefined ? null : shortOf(summary);
}

function shortOf({ state, tasks, need, headline }: RunSummary): Json {
  return plainJson({ state, tasks, asks: need === 'asks', headline } satisfies PoolRunStatus);
}

const offersSchema = z.object({ refused: z.array(z.object({ run: z.string(), why: z.string() })) });

/** Why workers leave a run to others, by its name. */
export function refusalsOf(workers: readonly SeenWorker[], run: string): string[] {
  return workers.flatMap(({ name, offers, isAlive }) => {
    const refused = isAlive ? (offersSchema.safeParse(offers).data?.refused ?? []) : [];
    return refused.filter((one) => one.run === run).map(({ why }) => `${name}: ${why}`);
  });
}

/** Why no live worker can take a run; undefined: one can, once it has a free slot. */
export function unfitText({ labels }: Pick<PoolRun, 'labels'>, workers: readonly SeenWorker[]): string | undefined {
  const live = workers.filter(({ isAlive, isDraining }) => isAlive && !isDraining);
  if (live.length === 0) return 'no worker is there to take it';
  if (live.some((worker) => labels.every((one) => worker.labels.includes(one)))) return undefined;
  const missing = labels.filter((one) => !live.some((worker) => worker.labels.includes(one)));
  return missing.length === 0
    ? `no worker has all of its labels: ${labels.join(', ')}`
    : `no worker has the label ${missing.join(', ')}`;
}
