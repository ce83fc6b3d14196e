import { RUN_EVENTS } from '../model/run.ts';
import type { Ledger, RunRow } from '../substrate/ports/ledger.ts';

/** Events that can be recorded after the end of a run, and the end itself. */
const LATER = [RUN_EVENTS.ended, RUN_EVENTS.folder, RUN_EVENTS.resumed, 'operator-command'];

export type ReadEnd = Pick<Ledger, 'newest' | 'segments'>;

/** When a run ended; undefined: it can continue. */
export function endOfRun(ledger: ReadEnd, run: Pick<RunRow, 'id'>): number | undefined {
  return lastEnd(ledger, run)?.at;
}

/** The row that its engine wrote last, and when it released the run. */
export function lastEnd(ledger: ReadEnd, { id }: Pick<RunRow, 'id'>) {
  const last = ledger.newest(id, LATER);
  if (last?.type !== RUN_EVENTS.ended) return undefined;
  const segments = ledger.segments(id);
  const at = segments.at(-1)?.releasedAt ?? null;
  return at === null ? undefined : { at, data: last.data, segments };
}
