import { RUN_EVENTS } from '../model/run.ts';
import { engineTime } from '../model/spending.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { runViewSchema, type RunView } from './run-view.ts';

/** Events that can be recorded after the end of a run, and the end itself. */
const LATER = [RUN_EVENTS.ended, RUN_EVENTS.folder, RUN_EVENTS.resumed, 'operator-command'];

type Read = Pick<Ledger, 'events' | 'newest' | 'segments'>;

/** When a run ended; undefined: it can continue. */
export function endOfRun(ledger: Read, { id }: Pick<RunRow, 'id'>): number | undefined {
  const released = ledger.segments(id).at(-1)?.releasedAt ?? null;
  return released === null || endSeq(ledger, id) === undefined ? undefined : released;
}

function endSeq(ledger: Read, id: string): number | undefined {
  const last = ledger.newest(id, LATER);
  return last?.type === RUN_EVENTS.ended ? last.seq : undefined;
}

/**
 * The view of a run that is over, from the row of its end: no plan is folded. undefined: it is not over, something was asked of it
 * since, or its engine was killed before it had written everything. Its mail, and where its work is, are those of the end.
 */
export function endedView(ledger: Read, { id }: RunRow): RunView | undefined {
  const seq = endSeq(ledger, id);
  if (seq === undefined) return undefined;
  const segments = ledger.segments(id);
  if (segments.at(-1)?.releasedAt === null) return undefined;
  // Another version of squad wrote another one.
  const [last] = ledger.events({ stream: id, after: seq - 1, limit: 1 });
  const { data: view } = runViewSchema.safeParse(last?.data);
  if (view === undefined) return undefined;
  const elapsedMs = engineTime(segments);
  // The engine wrote the row before its own last moment.
  const caps = view.use.caps.map((cap) =>
    cap.level === 'run' && cap.limit === 'minutes' ? { ...cap, used: elapsedMs / 60_000 } : cap,
  );
  return { ...view, run: { ...view.run, need: null }, use: { ...view.use, caps, elapsedMs } };
}
