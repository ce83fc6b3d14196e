import { SquadError } from '../../model/errors.ts';
import type { Json } from '../../text/json.ts';
import { plainJsonText } from '../../text/plain-text.ts';
import { openLedgerFile } from './ledger-file.ts';
import { closeDb, type Db } from './open-db.ts';
import { guarded } from './transactions.ts';

/** Text that is JSON in the ledger, and JSON in the export. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  'data',
  'answer',
  'request',
  'process',
  'result',
  'recipients',
  'body',
  'policy',
]);

interface Part {
  readonly type: string;
  /** `@run`: the id of the one run that is asked for, or null. */
  readonly sql: string;
}

const OF_RUN = (column: string): string => `WHERE @run IS NULL OR ${column} = @run`;
const OF_ATTEMPT = 'JOIN attempt ON attempt.id = attempt_id WHERE @run IS NULL OR attempt.run_id = @run';

/** The order is a promise (docs/database.md): the same ledger always gives the same lines, and a longer one adds lines. */
const PARTS: readonly Part[] = [
  {
    type: 'run',
    sql: `SELECT id, name, created_at, applied, driver FROM run ${OF_RUN('id')} ORDER BY created_at, id`,
  },
  {
    type: 'lease',
    sql: `SELECT run_id, epoch, holder, acquired_at, seen_at, released_at FROM lease ${OF_RUN('run_id')} ORDER BY run_id, epoch`,
  },
  {
    type: 'event',
    sql: `SELECT seq, stream, type, at, cause, epoch, data FROM event ${OF_RUN('stream')} ORDER BY seq`,
  },
  {
    type: 'application',
    sql: `SELECT run_id, cursor, seq, driver, epoch, at, answer FROM application ${OF_RUN('run_id')} ORDER BY rowid`,
  },
  {
    type: 'attempt',
    sql: `SELECT id, run_id, task_id, number, kind, agent, runtime, epoch, session_key, request, claim_seq, claimed_at, process, spawned_at, status
      FROM attempt ${OF_RUN('run_id')} ORDER BY claim_seq`,
  },
  {
    type: 'settlement',
    sql: `SELECT attempt_id, seq, at, settlement.epoch, outcome, failure, result, settlement.digest FROM settlement ${OF_ATTEMPT} ORDER BY seq`,
  },
  {
    type: 'usage',
    sql: `SELECT attempt_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd FROM usage ${OF_ATTEMPT} ORDER BY attempt.claim_seq`,
  },
  {
    type: 'late-result',
    sql: `SELECT attempt_id, seq, late_result.digest FROM late_result ${OF_ATTEMPT} ORDER BY seq`,
  },
  { type: 'observation', sql: `SELECT attempt_id, type, seq FROM observation ${OF_ATTEMPT} ORDER BY seq` },
  { type: 'timer', sql: `SELECT run_id, id, due_at, set_seq, data FROM timer ${OF_RUN('run_id')} ORDER BY set_seq` },
  {
    type: 'operator-command',
    sql: `SELECT id, run_id, seq, verb, data, operator, at FROM operator_command ${OF_RUN('run_id')} ORDER BY id`,
  },
  { type: 'mail-session', sql: 'SELECT id, created_at FROM mail_session' },
  { type: 'mail-policy', sql: `SELECT run_id, policy, at FROM mail_policy ${OF_RUN('run_id')} ORDER BY at, run_id` },
  {
    type: 'mail',
    sql: `SELECT seq, id, run_id, epoch, event_seq, party, sent_key, held, agent_instance, sender, recipients, mail.type, action,
      task_id, owner, deadline, corr, ttl_ms, ts, body_encoding, body, body_ref, digest FROM mail ${OF_RUN('run_id')} ORDER BY seq`,
  },
  {
    type: 'mail-delivery',
    sql: `SELECT mail_seq, recipient, run_id, sender, state, held, leased_by, leased_until, handed_to, retries, phase, due,
      expires_at, accepted_at, is_ask, answer_due, answer_at, answer, last_error
      FROM mail_delivery ${OF_RUN('run_id')} ORDER BY mail_seq, recipient`,
  },
  {
    type: 'mail-token',
    sql: `SELECT hash, run_id, address, attempt_id, instance, issued_at, ended_at FROM mail_token ${OF_RUN('run_id')} ORDER BY rowid`,
  },
  {
    type: 'mail-receiver',
    sql: `SELECT run_id, address, able, able_until, beat_until, received_ms, counted_at
      FROM mail_receiver ${OF_RUN('run_id')} ORDER BY run_id, address`,
  },
  {
    type: 'mail-task',
    sql: `SELECT run_id, id, status, owner, deadline, retries, mail_seq, last_update_seq
      FROM mail_task ${OF_RUN('run_id')} ORDER BY run_id, id`,
  },
];

/**
 * Everything in a ledger file, one JSON object a line (with its newline), of one instant, whoever writes meanwhile. Reads
 * row by row. `run`: only what belongs to this run, by name or id. Throws SquadError as opening does.
 */
export function* exportLedger(path: string, run: string | null): Generator<string, void> {
  const db = openLedgerFile(path, { readOnly: true });
  try {
    guarded(db, () => db.exec('BEGIN'));
    const id = run === null ? null : guarded(db, () => idOf(db, run));
    for (const part of PARTS) yield* linesOf(db, part, id);
  } finally {
    closeDb(db);
  }
}

function* linesOf(db: Db, { type, sql }: Part, run: string | null): Generator<string, void> {
  const rows = guarded(db, () => db.prepare<[{ run: string | null }], Record<string, unknown>>(sql).iterate({ run }));
  for (;;) {
    const next = guarded(db, () => rows.next());
    if (next.done === true) return;
    // What a row calls its own type keeps its name; the line says in `row` what it is.
    yield `${plainJsonText({ row: type, ...readable(next.value) })}\n`;
  }
}

function readable(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      JSON_COLUMNS.has(column) && typeof value === 'string' ? parsed(value) : value,
    ]),
  );
}

/** Damaged text is exported as it is: an export is what is left when nothing else can be read. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function idOf(db: Db, run: string): string {
  const sql = 'SELECT id FROM run WHERE id = @run OR name = @run ORDER BY id = @run DESC LIMIT 1';
  const row = db.prepare<[{ run: string }], { id: string }>(sql).get({ run });
  if (row !== undefined) return row.id;
  throw new SquadError({
    code: 'usage',
    message: `no run is called ${run}`,
    next: 'See `squad log` for the runs here.',
  });
}
