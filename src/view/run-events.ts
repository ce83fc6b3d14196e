import { isJsonObject } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board } from '../model/plan/board.ts';
import type { Playbooks } from '../model/plan.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { beginProjection, projectRun, type RunRecord } from './project-run.ts';

type ReadableLedger = Pick<Ledger, 'events' | 'settlement'> & {
  readonly mail: Pick<Ledger['mail'], 'message' | 'bodyOf'>;
};

/** Records that are in memory at once. */
const BATCH = 500;

/** A view of one run: a cursor over its records. */
export interface RunEvents {
  /** The events since the last look, in the order of the records. */
  look(): RunEvent[];
  /** The plan as of the last look; undefined: the run is not defined yet. */
  board(): Board | undefined;
}

/** `epoch`: the view begins when the engine with this lease does; absent: with the run. `playbooks`: an application's own. */
export function openRunEvents(
  ledger: ReadableLedger,
  runId: string,
  { epoch, playbooks = {} }: { readonly epoch?: number | undefined; readonly playbooks?: Playbooks } = {},
): RunEvents {
  let begun = epoch === undefined;
  return openView(ledger, runId, playbooks, (event) => {
    begun ||= isLease(event, epoch);
    return begun ? 'shown' : 'silent';
  });
}

/** Events before the engine with this lease (`epoch`) began. */
export function eventsBefore(ledger: ReadableLedger, runId: string, epoch: number): RunEvent[] {
  return openView(ledger, runId, {}, (event) => (isLease(event, epoch) ? 'end' : 'shown')).look();
}

function isLease({ type, epoch: of }: LedgerEvent, epoch: number | undefined): boolean {
  return type === 'lease-acquired' && of === epoch;
}

function openView(
  ledger: ReadableLedger,
  runId: string,
  playbooks: Playbooks,
  partOf: (event: LedgerEvent) => 'silent' | 'shown' | 'end',
): RunEvents {
  let state = beginProjection(playbooks);
  let cursor = 0;
  const readOn = (seen: RunEvent[]): boolean => {
    const records = ledger.events({ stream: runId, after: cursor, limit: BATCH });
    for (const event of records) {
      const part = partOf(event);
      if (part === 'end') return false;
      const projected = projectRun(state, readRecord(ledger, event));
      state = projected.state;
      cursor = event.seq;
      if (part === 'shown') seen.push(...projected.events);
    }
    return records.length === BATCH;
  };
  return {
    look: () => {
      const seen: RunEvent[] = [];
      while (readOn(seen));
      return seen;
    },
    board: () => state.board,
  };
}

function readRecord(ledger: ReadableLedger, event: LedgerEvent): RunRecord {
  const { type, data, cause } = event;
  if (!isJsonObject(data)) return { event };
  const { attemptId, id } = data;
  if (type === 'attempt-settled' && typeof attemptId === 'string') {
    return { event, settlement: ledger.settlement(attemptId) };
  }
  if (type !== 'mail-sent' || cause === null || typeof id !== 'string') return { event };
  const message = ledger.mail.message(id);
  return message === undefined ? { event } : { event, mail: { message, body: ledger.mail.bodyOf(message) } };
}
