import { isJsonObject } from '../../text/json.ts';
import type { Attempt } from '../../model/attempt.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { RunLimits, RunRow } from '../ports/ledger.ts';
import { readEvents } from './events.ts';
import { seqOf } from './mail/rows.ts';
import { linesOf } from './mail/trace.ts';
import type { Store } from './store.ts';
import { readSnapshot } from './transactions.ts';

/** The mailbox as plain rows: part of what the history checker judges. */
interface MailHistory {
  readonly sessions: readonly string[];
  /** In the order sent. `recipients`: JSON. */
  readonly messages: readonly {
    seq: number;
    id: string;
    runId: string;
    epoch: number;
    eventSeq: number;
    held: string | null;
    sender: string;
    recipients: string;
    ts: number;
  }[];
  readonly deliveries: readonly { mailSeq: number; recipient: string; state: string; held: number }[];
  /** The facts about messages in the events, in their order. `event`: its seq. */
  readonly lines: readonly { event: number; mailSeq: number; recipient: string; what: string }[];
}

/** A snapshot of the ledger as plain rows, for the history checker. */
export interface LedgerHistory {
  readonly events: readonly LedgerEvent[];
  readonly runs: readonly Pick<RunRow, 'id' | 'name' | 'applied' | 'driver'>[];
  /** In the order written. */
  readonly applications: readonly { runId: string; cursor: number; seq: number; driver: string; epoch: number }[];
  readonly attempts: readonly (Pick<
    Attempt,
    'id' | 'runId' | 'taskId' | 'number' | 'kind' | 'sessionKey' | 'epoch' | 'status'
  > & { readonly claimSeq: number })[];
  readonly settlements: readonly {
    attemptId: string;
    seq: number;
    epoch: number;
    outcome: string;
    failure: string | null;
    digest: string;
  }[];
  /** `tokens` is input plus output; null is unknown. */
  readonly usage: readonly { attemptId: string; tokens: number | null; costUsd: number | null }[];
  readonly lateResults: readonly { attemptId: string; seq: number; digest: string }[];
  readonly observations: readonly { attemptId: string; type: string; seq: number }[];
  readonly timers: readonly { runId: string; id: string; dueAt: number; setSeq: number }[];
  readonly commands: readonly { id: number; runId: string; seq: number }[];
  readonly mail: MailHistory;
  /** By run id, oldest first: the caps from an event on. The caller adds them from the run's definition. */
  readonly limits?: Readonly<Record<string, readonly { readonly since: number; readonly limits: RunLimits }[]>>;
}

export function readHistory(store: Store): LedgerHistory {
  return readSnapshot(store.db, () => {
    const events = readEvents(store, {});
    return { ...rowsOf(store), events, mail: readMailHistory(store, events) };
  });
}

function rowsOf(store: Store): Omit<LedgerHistory, 'events' | 'mail'> {
  const rows = <T>(sql: string): T[] => store.all(sql);
  return {
    runs: rows('SELECT id, name, applied, driver FROM run ORDER BY id'),
    applications: rows('SELECT run_id AS runId, cursor, seq, driver, epoch FROM application ORDER BY rowid'),
    attempts: rows(
      `SELECT id, run_id AS runId, task_id AS taskId, number, kind, session_key AS sessionKey, claim_seq AS claimSeq, epoch, status
       FROM attempt ORDER BY claim_seq`,
    ),
    settlements: rows(
      'SELECT attempt_id AS attemptId, seq, epoch, outcome, failure, digest FROM settlement ORDER BY seq',
    ),
    usage: rows(
      `SELECT attempt_id AS attemptId, input_tokens + output_tokens AS tokens, cost_usd AS costUsd FROM usage ORDER BY attempt_id`,
    ),
    lateResults: rows('SELECT attempt_id AS attemptId, seq, digest FROM late_result ORDER BY seq'),
    observations: rows('SELECT attempt_id AS attemptId, type, seq FROM observation ORDER BY seq'),
    timers: rows('SELECT run_id AS runId, id, due_at AS dueAt, set_seq AS setSeq FROM timer ORDER BY set_seq'),
    commands: rows('SELECT id, run_id AS runId, seq FROM operator_command ORDER BY id'),
  };
}

function readMailHistory(store: Store, events: readonly LedgerEvent[]): MailHistory {
  const rows = <T>(sql: string): T[] => store.all(sql);
  return {
    sessions: rows<{ id: string }>('SELECT id FROM mail_session').map(({ id }) => id),
    messages: rows(
      `SELECT seq, id, run_id AS runId, epoch, event_seq AS eventSeq, held, sender, recipients, ts FROM mail ORDER BY seq`,
    ),
    deliveries: rows(
      'SELECT mail_seq AS mailSeq, recipient, state, held FROM mail_delivery ORDER BY mail_seq, recipient',
    ),
    lines: events.flatMap((event) =>
      linesOf(event).map(({ id, recipient, what }) => ({ event: event.seq, mailSeq: seqOf(id), recipient, what })),
    ),
  };
}

export function ofType(history: LedgerHistory, type: string): LedgerEvent[] {
  return history.events.filter((event) => event.type === type);
}

export function attemptOf(event: LedgerEvent): string | undefined {
  if (!isJsonObject(event.data)) return undefined;
  const id = event.data['attemptId'];
  return typeof id === 'string' ? id : undefined;
}
