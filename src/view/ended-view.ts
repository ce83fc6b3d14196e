import { z } from 'zod';
import { RUN_EVENTS } from '../model/run.ts';
import { engineTime } from '../model/spending.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { runViewSchema, type RunView } from './run-view.ts';

/** Events that can be recorded after the end of a run, and the end itself. */
const LATER = [RUN_EVENTS.ended, RUN_EVENTS.folder, RUN_EVENTS.resumed, 'operator-command'];

type Read = Pick<Ledger, 'newest' | 'segments'>;

/** When a run ended; undefined: it can continue. */
export function endOfRun(ledger: Read, run: Pick<RunRow, 'id'>): number | undefined {
  return lastEnd(ledger, run)?.at;
}

/** The row that its engine wrote last, and when it released the run. */
function lastEnd(ledger: Read, { id }: Pick<RunRow, 'id'>) {
  const last = ledger.newest(id, LATER);
  if (last?.type !== RUN_EVENTS.ended) return undefined;
  const segments = ledger.segments(id);
  const at = segments.at(-1)?.releasedAt ?? null;
  return at === null ? undefined : { at, data: last.data, segments };
}

/**
 * The view of a run that is over, from the row of its end: no plan is folded. undefined: it is not over, something was asked of it
 * since, or its engine was killed before it had written everything. Its mail, and where its work is, are those of the end.
 */
export function endedView(ledger: Read, run: Pick<RunRow, 'id'>): RunView | undefined {
  const ended = endedPart(ledger, run, runViewSchema);
  if (ended === undefined) return undefined;
  const { elapsedMs } = ended.use;
  // The engine wrote the row before its own last moment.
  const caps = ended.use.caps.map((cap) =>
    cap.level === 'run' && cap.limit === 'minutes' ? { ...cap, used: elapsedMs / 60_000 } : cap,
  );
  return { ...ended, use: { ...ended.use, caps } };
}

const { run, plan, use } = runViewSchema.shape;
const short = { runId: true, name: true, parent: true, objective: true, source: true, playbook: true } as const;

/** For lists of runs: to check the whole of each view takes most of their time. */
export const shortViewSchema = z.object({
  version: runViewSchema.shape.version,
  run: run.pick({ ...short, startedAt: true, deadline: true, state: true, need: true }).strip(),
  plan: plan.pick({ tasks: true, stage: true }).strip(),
  use: use.pick({ usage: true, elapsedMs: true }).strip(),
  end: z.object({ headline: z.string() }).nullable(),
});

/** As `endedView`, and only what `schema` has of it. */
export function endedPart<T extends Pick<z.infer<typeof shortViewSchema>, 'run' | 'use'>>(
  ledger: Read,
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
