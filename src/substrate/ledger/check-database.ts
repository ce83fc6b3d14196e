import { errorText, isSquadError } from '../../model/errors.ts';
import { contentDamage } from './damage.ts';
import { backupsOf } from './backup-files.ts';
import { sizeOf } from './database-file.ts';
import { brokenRules, readHistory, type CapsOfRuns, type LedgerHistory } from './history.ts';
import { damagedBodies } from './mail/bodies.ts';
import { openLedgerFile } from './ledger-file.ts';
import { closeDb, schemaVersion, type Db } from './open-db.ts';
import { readSettlement } from './settle.ts';
import { databaseError, neverSetUp } from './sqlite-errors.ts';
import { createStore } from './store.ts';
import { readSnapshot } from './transactions.ts';

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
    const violations = [...brokenRules(store, runs?.capsOf(history.events)), ...(runs?.judge(history) ?? [])];
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
