import { usageError } from '../../model/errors.ts';
import { parseJson } from '../../text/json.ts';
import { plainJsonText } from '../../text/plain-text.ts';
import { openLedgerFile } from './ledger-file.ts';
import { closeDb, type Db } from './open-db.ts';
import { guarded } from './transactions.ts';

/** Text that is JSON in the ledger, and JSON in the export. */
const JSON_COLUMNS: ReadonlySet<string> = new Set(
  'data answer request process result recipients body policy value'.split(' '),
);

/** Seals, columns without information, and those that only repeat an event (`run-forked`). */
const LEFT_OUT: ReadonlySet<string> = new Set(['seal', 'parent_run', 'parent_seq', 'one']);

interface Part {
  readonly table: string;
  readonly order: string;
  /** The column that names the run; `attempt`: the run is that of its attempt; absent: it belongs to every run. */
  readonly of?: string;
}

/** The order is a promise (docs/database.md): the same ledger always gives the same lines, and a longer one adds lines. */
const PARTS: readonly Part[] = [
  { table: 'run', of: 'id', order: 'rowid' },
  { table: 'lease', of: 'run_id', order: 'run_id, epoch' },
  { table: 'event', of: 'stream', order: 'seq' },
  { table: 'application', of: 'run_id', order: 'rowid' },
  { table: 'attempt', of: 'run_id', order: 'claim_seq' },
  { table: 'settlement', of: 'attempt', order: 'seq' },
  { table: 'usage', of: 'attempt', order: 'claim_seq' },
  { table: 'late_result', of: 'attempt', order: 'seq' },
  { table: 'observation', of: 'attempt', order: 'seq' },
  { table: 'timer', of: 'run_id', order: 'set_seq' },
  { table: 'operator_command', of: 'run_id', order: 'id' },
  { table: 'record', order: 'rowid' },
  { table: 'mail_session', order: 'one' },
  { table: 'mail_policy', of: 'run_id', order: 'at, run_id' },
  { table: 'mail', of: 'run_id', order: 'seq' },
  { table: 'mail_delivery', of: 'run_id', order: 'mail_seq, recipient' },
  { table: 'mail_token', of: 'run_id', order: 'rowid' },
  { table: 'mail_receiver', of: 'run_id', order: 'run_id, address' },
  { table: 'mail_task', of: 'run_id', order: 'run_id, id' },
];

/** `@run`: the id of the one run that is asked for, or null. */
function queryOf({ table, of, order }: Part): string {
  if (of === undefined) return `SELECT * FROM ${table} WHERE @run IS @run ORDER BY ${order}`;
  if (of !== 'attempt') return `SELECT * FROM ${table} WHERE @run IS NULL OR ${of} = @run ORDER BY ${order}`;
  return `SELECT ${table}.* FROM ${table} JOIN attempt ON attempt.id = attempt_id
    WHERE @run IS NULL OR attempt.run_id = @run ORDER BY ${order}`;
}

/** A snapshot of a ledger, one JSON object a line. `run`: only the rows of this run, by name or id. */
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

function* linesOf(db: Db, part: Part, run: string | null): Generator<string, void> {
  const type = part.table.replaceAll('_', '-');
  const sql = queryOf(part);
  const rows = guarded(db, () => db.prepare<[{ run: string | null }], Record<string, unknown>>(sql).iterate({ run }));
  for (;;) {
    const next = guarded(db, () => rows.next());
    if (next.done === true) return;
    // The line names its table in `row`, because some tables have a column `type`.
    yield `${plainJsonText({ row: type, ...readable(next.value) })}\n`;
  }
}

function readable(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([column]) => !LEFT_OUT.has(column))
      .map(([column, value]) => [
        column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
        JSON_COLUMNS.has(column) && typeof value === 'string' ? parsed(value) : value,
      ]),
  );
}

/** Damaged JSON is exported as text, so that all else in a ledger that can be opened is exported too. */
function parsed(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

function idOf(db: Db, run: string): string {
  const sql = 'SELECT id FROM run WHERE id = @run OR name = @run ORDER BY id = @run DESC LIMIT 1';
  const row = db.prepare<[{ run: string }], { id: string }>(sql).get({ run });
  if (row !== undefined) return row.id;
  throw usageError(`no run is called ${run}`, 'See `squad runs`.');
}
