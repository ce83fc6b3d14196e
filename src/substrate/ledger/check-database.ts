import { existsSync, statSync } from 'node:fs';
import { errorText, isSquadError } from '../../model/errors.ts';
import { checkHistory, type Violation } from './history-checker.ts';
import { backupsOf } from './database-file.ts';
import { readHistory, type LedgerHistory } from './history.ts';
import { openLedgerFile } from './ledger-file.ts';
import { MIGRATIONS, schemaVersion } from './migrations.ts';
import { closeDb, type Db } from './open-db.ts';
import { createStore } from './store.ts';

/** What `squad db check` prints. Plain data; nothing in the file is changed. */
export interface DatabaseCheck {
  readonly path: string;
  readonly ok: boolean;
  readonly bytes: number;
  readonly schemaVersion: number | null;
  readonly events: number;
  readonly lastSeq: number;
  /** Each in one line, the gravest first; empty when all is well. */
  readonly problems: readonly string[];
  /** Promises of the ledger that its rows break. */
  readonly violations: readonly Violation[];
  /** File names beside the database, newest last. */
  readonly backups: readonly string[];
}

/** Never throws for damage: it is the answer. Throws `usage` if there is no ledger at all. */
export function checkDatabase(path: string): DatabaseCheck {
  const start = {
    path,
    ok: false,
    bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    schemaVersion: null,
    events: 0,
    lastSeq: 0,
    violations: [],
    backups: existsSync(path) ? backupsOf(path) : [],
  };
  let db: Db;
  try {
    db = openLedgerFile(path, { readOnly: true });
  } catch (error) {
    if (isSquadError(error) && error.code === 'usage') throw error;
    return { ...start, problems: [errorText(error)] };
  }
  try {
    return inspect(db, start);
  } catch (error) {
    return { ...start, problems: [errorText(error)] };
  } finally {
    closeDb(db);
  }
}

function inspect(db: Db, start: Omit<DatabaseCheck, 'problems'>): DatabaseCheck {
  const version = schemaVersion(db);
  const problems = [...integrityProblems(db), ...foreignKeyProblems(db)];
  if (version !== MIGRATIONS.length) problems.push(`schema ${version}; this squad reads ${MIGRATIONS.length}`);
  const known = { ...start, schemaVersion: version };
  if (problems.length > 0) return { ...known, problems };
  const history = readHistory(createStore(db, { now: () => 0 }));
  const violations = checkHistory(history);
  return {
    ...known,
    ok: violations.length === 0,
    events: history.events.length,
    lastSeq: history.events.at(-1)?.seq ?? 0,
    problems,
    violations,
  };
}

function integrityProblems(db: Db): string[] {
  const rows = db.prepare<[], { integrity_check: string }>('PRAGMA integrity_check(20)').all();
  return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
}

function foreignKeyProblems(db: Db): string[] {
  const rows = db.prepare<[], { table: string; parent: string }>('PRAGMA foreign_key_check').all();
  return rows.slice(0, 20).map((row) => `a row of ${row.table} points to a row of ${row.parent} that is not there`);
}

/** Everything in a ledger file, for the history checker. Throws SquadError as opening does. */
export function readLedgerHistory(path: string): LedgerHistory {
  const db = openLedgerFile(path, { readOnly: true });
  try {
    return readHistory(createStore(db, { now: () => 0 }));
  } finally {
    closeDb(db);
  }
}
