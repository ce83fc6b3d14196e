import { z } from 'zod';
import { engineTime } from '../model/spending.ts';
import type { RunRow } from '../substrate/ports/ledger.ts';
import { lastEnd, type ReadEnd } from './end-row.ts';
import { runViewSchema, type RunView } from './run-view.ts';

/**
 * The view of a run that is over, from the row of its end: no plan is folded. undefined: it is not over, something was asked of it
 * since, or its engine was killed before it had written everything. Its mail, and where its work is, are those of the end.
 */
export function endedView(ledger: ReadEnd, run: Pick<RunRow, 'id'>): RunView | undefined {
  const ended = endedPart(ledger, run, runViewSchema);
  if (ended === undefined) return undefined;
  const { elapsedMs } = ended.use;
  // The engine wrote the row before its own last moment.
  const caps = ended.use.caps.map((cap) =>
    cap.level === 'run' && cap.limit === 'minutes' ? { ...cap, used: elapsedMs / 60_000 } : cap,
  );
  return { ...ended, use: { ...ended.use, caps } };
}

const short = { runId: true, name: true, parent: true, objective: true, source: true, playbook: true } as const;

/** For lists of runs: to check the whole of each view takes most of their time. */
export const shortViewSchema = z.object({
  version: runViewSchema.shape.version,
  run: runViewSchema.shape.run.pick({ ...short, startedAt: true, deadline: true, state: true, need: true }).strip(),
  plan: runViewSchema.shape.plan.pick({ tasks: true, stage: true }).strip(),
  use: runViewSchema.shape.use.pick({ usage: true, elapsedMs: true }).strip(),
  end: z.object({ headline: z.string() }).nullable(),
});

/** As `endedView`, and only what `schema` has of it. */
export function endedPart<T extends Pick<z.infer<typeof shortViewSchema>, 'run' | 'use'>>(
  ledger: ReadEnd,
  row: Pick<RunRow, 'id'>,
  schema: z.ZodType<T>,
): T | undefined {
  const last = lastEnd(ledger, row);
  if (last === undefined) return undefined;
  // Another version of squad wrote another one.
  const { data: view } = schema.safeParse(last.data);
  if (view === undefined) return undefined;
  return { ...view, run: { ...view.run, need: null }, use: { ...view.use, elapsedMs: engineTime(last.segments) } };
}
