import type { Attempt } from '../../model/attempt.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { RunLimits, RunRow } from '../ports/ledger.ts';
import { backupsOf } from './backup-files.ts';
import { contentDamage } from './damage.ts';
import { sizeOf } from './database-file.ts';
import { readEvents } from './events.ts';
import { ATTEMPT_RULES, EVENT_RULES, MAIL_RULES } from './history-rules.ts';
import { openLedgerFile } from './ledger-file.ts';
import { damagedBodies } from './mail/bodies.ts';
import { closeDb, type Db, schemaVersion } from './open-db.ts';
import type { Queries } from './query.ts';
import { RECORD_RULES } from './records.ts';
import { listRuns } from './runs.ts';
import { readSettlement } from './settle.ts';
import { claimsPastShared } from './shared-rules.ts';
import { databaseError, neverSetUp } from './sqlite-errors.ts';
import { createStore, type Store } from './store.ts';
import { readSnapshot } from './transactions.ts';

/** Each rule is a query for sentences about the places that break it, which name the rows. */
const RULES = { ...EVENT_RULES, ...ATTEMPT_RULES, ...RECORD_RULES, ...MAIL_RULES };

type Rule = keyof typeof RULES;

export const HISTORY_RULES = Object.keys(RULES) as Rule[];

export interface Violation {
  readonly rule: Rule;
  readonly message: string;
}

/** By run id, oldest first: the caps from an event on. */
export type CapsOfRuns = Readonly<Record<string, readonly { readonly since: number; readonly limits: RunLimits }[]>>;

/** The input of the rules about plans. */
export interface LedgerHistory {
  readonly events: readonly LedgerEvent[];
  readonly runs: readonly RunRow[];
  readonly attempts: readonly (Pick<Attempt, 'id' | 'runId' | 'taskId' | 'kind'> & { readonly claimSeq: number })[];
}

/** The result of `squad db check`, which does not change the file. */
export interface DatabaseCheck {
  readonly path: string;
  readonly ok: boolean;
  readonly bytes: number;
  readonly schemaVersion: number | null;
  readonly events: number;
  readonly lastSeq: number;
  /** One line each, the worst first. */
  readonly problems: readonly string[];
  /** Files that the ledger names and that are not as it has them, by their paths below its folder. */
  readonly files: readonly string[];
  /** Promises of the ledger that its rows break. */
  readonly violations: readonly BrokenRule[];
  /** File names beside the database, newest last. */
  readonly backups: readonly string[];
}

/** `message` names the rows that break the rule. */
type BrokenRule = Readonly<Record<'rule' | 'message', string>>;

/** Adds the caps of each run and rules about its plan to the ledger's own rules. */
export interface RunJudge {
  capsOf(events: LedgerHistory['events']): CapsOfRuns;
  judge(history: LedgerHistory): readonly BrokenRule[];
}

/**
 * Reports damage instead of throwing it. Throws `usage` if there is no ledger, and the cause where it cannot be read: a ledger that
 * cannot be opened is not a damaged one.
 */
export function checkDatabase(path: string, runs?: RunJudge): DatabaseCheck {
  let start: Omit<DatabaseCheck, 'problems'> = {
    path,
    ok: false,
    bytes: 0,
    schemaVersion: null,
    events: 0,
    lastSeq: 0,
    files: [],
    violations: [],
    backups: [],
  };
  try {
    start = { ...start, bytes: sizeOf(path), backups: backupsOf(path) };
    const db = openLedgerFile(path, { readOnly: true });
    try {
      return inspect(db, start, runs);
    } finally {
      closeDb(db);
    }
  } catch (error) {
    const typed = databaseError(path, error);
    if (!isSquadError(typed) || typed.code !== 'database-corrupt') throw typed;
    return { ...start, problems: [errorText(typed)] };
  }
}

function inspect(db: Db, start: Omit<DatabaseCheck, 'problems'>, runs: RunJudge | undefined): DatabaseCheck {
  const version = schemaVersion(db);
  if (version === 0) throw neverSetUp(start.path);
  const problems = [...integrityProblems(db), ...foreignKeyProblems(db), ...contentDamage(db)];
  const known = { ...start, schemaVersion: version };
  if (problems.length > 0) return { ...known, problems };
  const store = createStore(db, { now: () => 0 });
  for (const { id } of db.prepare<[], { id: string }>('SELECT attempt_id AS id FROM settlement').all()) {
    readSettlement(store, id);
  }
  return readSnapshot(db, () => {
    const history = readHistory(store);
    const shared = claimsPastShared(store).map((message) => ({ rule: 'shared-cap-exceeded', message }));
    const broken = brokenRules(store, runs?.capsOf(history.events));
    const violations = [...broken, ...shared, ...(runs?.judge(history) ?? [])];
    const bodies = damagedBodies(store);
    const problems = bodies.map(({ problem }) => problem);
    const files = bodies.map(({ file }) => file);
    return { ...known, ...extentOf(db), ok: violations.length + files.length === 0, problems, files, violations };
  });
}

function extentOf(db: Db): { events: number; lastSeq: number } {
  const sql = 'SELECT count(*) AS events, coalesce(max(seq), 0) AS lastSeq FROM event';
  return db.prepare<[], { events: number; lastSeq: number }>(sql).get() ?? { events: 0, lastSeq: 0 };
}

function integrityProblems(db: Db): string[] {
  const rows = db.prepare<[], { integrity_check: string }>('PRAGMA integrity_check(20)').all();
  return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
}

function foreignKeyProblems(db: Db): string[] {
  const rows = db.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all();
  return rows.slice(0, 20).map((row) => `a row of ${row.table} points to a row of ${row.parent} that is not there`);
}

/** Checks the promises of the `Ledger` port that show in the stored rows, without the code that keeps them. */
export function brokenRules(ledger: Pick<Queries, 'all'>, caps: CapsOfRuns = {}): Violation[] {
  return HISTORY_RULES.flatMap((rule) => {
    const sql = RULES[rule];
    const bound = sql.includes('@caps') ? [{ caps: JSON.stringify(caps) }] : [];
    const found = ledger.all<Readonly<Record<string, string>>>(sql, ...bound);
    return found.flatMap((row) => Object.values(row)).map((message) => ({ rule, message }));
  });
}

export function readHistory(store: Store): LedgerHistory {
  const attempts =
    'SELECT id, run_id AS runId, task_id AS taskId, kind, claim_seq AS claimSeq FROM attempt ORDER BY claim_seq';
  return { events: readEvents(store, {}), runs: listRuns(store), attempts: store.all(attempts) };
}
