import type { Parked } from '../ports/ledger.ts';
import { appendEvent, lastSeq, type NewEvent } from './events.ts';
import type { ParkedUpTo, Store } from './store.ts';

interface Row {
  readonly type: string;
  readonly at: number;
  readonly epoch: number | null;
}

/** Decisions aside, that is every input: whatever comes in ends the wait. */
const ROWS = `
SELECT type, at, epoch FROM event
WHERE stream = ? AND seq > ? AND seq <= ? AND (cause IS NULL OR type = 'run-parked') ORDER BY seq`;

/** Nothing lives and nothing can start before something comes in: from here on until then no engine time passes. */
export function parkRun(
  store: Store,
  event: Required<Pick<NewEvent, 'stream' | 'cause' | 'epoch'>>,
  until: number | null,
): void {
  appendEvent(store, { ...event, type: 'run-parked', data: { until } });
}

/** By epoch. Events only ever come to the end, so what was read before is added to. */
export function readParked(store: Store, runId: string): ReadonlyMap<number, Parked> {
  const known = store.parked.get(runId) ?? NEVER;
  const last = lastSeq(store);
  if (last === known.seq) return known.byEpoch;
  const rows = store.db.prepare<[string, number, number], Row>(ROWS).all(runId, known.seq, last);
  const parked = { ...addRows(known, rows), seq: last };
  if (!store.db.inTransaction) store.parked.set(runId, parked);
  return parked.byEpoch;
}

const NEVER: ParkedUpTo = { seq: 0, byEpoch: new Map(), open: null };

function addRows({ byEpoch: before, open: still }: ParkedUpTo, rows: readonly Row[]): Omit<ParkedUpTo, 'seq'> {
  const byEpoch = new Map(before);
  let open = still;
  const end = (at: number): void => {
    const last = open === null ? undefined : byEpoch.get(open);
    if (open !== null && last !== undefined) byEpoch.set(open, { ...last, to: at });
    open = null;
  };
  for (const { type, at, epoch } of rows) {
    end(at);
    if (type !== 'run-parked' || epoch === null) continue;
    const last = byEpoch.get(epoch);
    const ms = last === undefined ? 0 : last.ms + Math.max(0, (last.to ?? at) - last.from);
    byEpoch.set(epoch, { ms, from: at, to: null });
    open = epoch;
  }
  return { byEpoch, open };
}
