import { readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkDatabase, teachRowDigest } from '../../../src/substrate/ledger/index.ts';
import { contentDamage, fileDamage } from '../../../src/substrate/ledger/damage.ts';
import { SCHEMA } from '../../../src/substrate/ledger/schema.ts';
import { claim, decide, openBench, refusal, result, squadError, temporaryFolder, type Bench } from './support.ts';

test('a sound ledger is sound, and checking changes nothing', () => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  bench.ledger.settle(bench.lease, 'a-1', result());
  const before = readFileSync(bench.path);
  expect(checkDatabase(bench.path)).toEqual({
    path: bench.path,
    ok: true,
    bytes: statSync(bench.path).size,
    schemaVersion: SCHEMA,
    events: bench.ledger.lastSeq(),
    lastSeq: bench.ledger.lastSeq(),
    problems: [],
    files: [],
    violations: [],
    backups: [],
  });
  expect(readFileSync(bench.path)).toEqual(before);
});

test.each([
  [
    'a missing event',
    `DROP TRIGGER event_never_goes; PRAGMA foreign_keys = OFF; DELETE FROM event WHERE seq = 2;
CREATE TRIGGER event_never_goes BEFORE DELETE ON event
  BEGIN SELECT raise(ABORT, 'an event never goes'); END;`,
    'seq-gap',
  ],
  ['a settlement taken back', "UPDATE attempt SET status = 'claimed'", 'settled-not-once'],
  ['a missing settlement', 'PRAGMA foreign_keys = OFF; DELETE FROM settlement', 'points to a row'],
  ['a trigger that is gone', 'DROP TRIGGER event_never_goes', 'trigger event_never_goes'],
  ['a row of a table', "UPDATE attempt SET agent = 'other'", 'row 1 of attempt'],
  ['a cursor moved by hand', 'UPDATE run SET applied = 1', 'applied-twice'],
])('%s is found', (_, sql, expected) => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  bench.ledger.settle(bench.lease, 'a-1', result());
  const other = new Database(bench.path);
  teachRowDigest(other);
  other.exec(sql);
  other.close();
  const check = checkDatabase(bench.path);
  expect(check.ok).toBe(false);
  expect([...check.problems, ...check.violations.map((found) => found.rule)].join()).toContain(expected);
});

test('damage is an answer, not a crash; no ledger at all is a mistake of the caller', () => {
  const bench = openBench();
  bench.ledger.close();
  truncateSync(bench.path, 5000);
  const check = checkDatabase(bench.path);
  expect(check.ok).toBe(false);
  expect(check.problems.join()).toContain('cut short');
  expect(refusal(() => checkDatabase(join(temporaryFolder(), 'squad.db')))).toBe('usage');
});

/** The file of a ledger, changed by this SQL; and what the check of its content says. */
function changed(bench: Bench, sql: string): string[] {
  const db = new Database(bench.path);
  teachRowDigest(db);
  db.unsafeMode(true);
  db.exec(`PRAGMA writable_schema = ON; PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
  const read = new Database(bench.path, { readonly: true });
  onTestFinished(() => void read.close());
  teachRowDigest(read);
  return contentDamage(read);
}

const OF_SCHEMA = `is not what schema ${SCHEMA} says`;
const seals = (table: string, ...rows: number[]) => rows.map((row) => `row ${row} of ${table} does not match its seal`);
const NO_TRIGGER = 'DROP TRIGGER event_never_changes;';
const TRIGGER = `CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
  BEGIN SELECT raise(ABORT, 'an event never changes'); END;`;

describe('damage that SQLite does not find', () => {
  test.each<[string, string, readonly string[]]>([
    ['none', '', []],
    ['none after an analysis', 'ANALYZE', []],
    ['a trigger that is gone', NO_TRIGGER, [`trigger event_never_changes ${OF_SCHEMA}`]],
    ['a table too many', 'CREATE TABLE other (a)', [`table other ${OF_SCHEMA}`]],
    [
      'a changed text',
      "UPDATE sqlite_schema SET sql = replace(sql, 'never changes', 'never alters') WHERE name = 'mail_never_changes'",
      [`trigger mail_never_changes ${OF_SCHEMA}`],
    ],
    [
      'a partial index without its rows',
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'mail_by_holder')
        WHERE name = 'attempt_live_by_session'`,
      ['index attempt_live_by_session does not have the rows of attempt'],
    ],
    [
      'an index without its rows',
      `UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'mail_by_holder')
        WHERE name = 'timer_by_due'`,
      ['index timer_by_due does not have the rows of timer'],
    ],
    [
      'rows of several tables',
      `${NO_TRIGGER} UPDATE event SET at = 5 WHERE seq IN (2, 3); ${TRIGGER}
      UPDATE attempt SET agent = 'x'`,
      [...seals('event', 2, 3), ...seals('attempt', 1)],
    ],
    ['a seal that is gone', `${NO_TRIGGER} UPDATE event SET seal = NULL WHERE seq = 1; ${TRIGGER}`, seals('event', 1)],
    [
      '20 rows of a table',
      `${NO_TRIGGER} UPDATE event SET at = 5; ${TRIGGER} UPDATE attempt SET agent = 'x'`,
      [...seals('event', ...Array.from({ length: 20 }, (_, index) => index + 1)), ...seals('attempt', 1)],
    ],
  ])('%s', (_, sql, damage) => {
    const bench = openBench();
    decide(bench, claim('a-1', 'a', { sessionKey: 's' }), { do: 'set-timer', id: 't', dueAt: 5, data: 1 });
    for (let count = 0; count < 20; count += 1) bench.ledger.append('r', 'poke', null);
    expect(changed(bench, sql)).toEqual(damage);
    const db = new Database(bench.path, { readonly: true });
    const found = fileDamage(db);
    db.close();
    if (sql.includes('rootpage')) expect(found).toContain('page');
    else expect(found).toBeUndefined();
  });
});

describe('the check of a ledger', () => {
  test('names rows that point to nothing, 20 of them, before all else is looked at', () => {
    const bench = openBench();
    decide(bench, claim('a-1'));
    const db = new Database(bench.path);
    teachRowDigest(db);
    db.pragma('foreign_keys = OFF');
    for (let index = 0; index < 25; index += 1) {
      db.prepare("INSERT INTO timer (run_id, id, due_at, set_seq, data) VALUES ('none', ?, 1, 1, '1')").run(
        `t-${index}`,
      );
    }
    db.close();
    const wrong = 'a row of timer points to a row of run that is not there';
    expect(checkDatabase(bench.path)).toEqual({
      ...{
        path: bench.path,
        ok: false,
        bytes: statSync(bench.path).size,
        schemaVersion: SCHEMA,
        events: 0,
        lastSeq: 0,
      },
      ...{ problems: Array.from({ length: 20 }, () => wrong), files: [], violations: [], backups: [] },
    });
  });

  test('names a settlement that does not match its digest', () => {
    const bench = openBench();
    decide(bench, claim('a-1'));
    bench.ledger.settle(bench.lease, 'a-1', result());
    changed(bench, "UPDATE settlement SET digest = 'x'");
    expect(checkDatabase(bench.path)).toEqual({
      ...{ path: bench.path, ok: false, bytes: statSync(bench.path).size, schemaVersion: null, events: 0, lastSeq: 0 },
      problems: [`${bench.path}: settlement of attempt a-1 does not match its digest.`],
      ...{ files: [], violations: [], backups: [] },
    });
  });

  test('asks a judge of whole runs, which sees all of them, for caps and for more that is broken', () => {
    const bench = openBench();
    decide(bench, claim('a-1', 'a'));
    bench.ledger.settle(bench.lease, 'a-1', result());
    decide(bench, claim('b-1', 'b'));
    const seen: unknown[] = [];
    const check = checkDatabase(bench.path, {
      capsOf: (events) => {
        seen.push(events.map(({ seq }) => seq));
        return { r: [{ since: 0, limits: { turns: 1 } }] };
      },
      judge: ({ events, runs, attempts }) => {
        seen.push(events.length, runs, attempts);
        return [{ rule: 'plan', message: 'the plan is wrong' }];
      },
    });
    expect(check).toMatchObject({ ok: false, problems: [], files: [], events: 7, lastSeq: 7 });
    expect(check.violations).toEqual([
      { rule: 'cap-exceeded', message: 'attempt b-1 was claimed with 1 of 1 turns used' },
      { rule: 'plan', message: 'the plan is wrong' },
    ]);
    expect(seen).toEqual([
      [1, 2, 3, 4, 5, 6, 7],
      7,
      bench.ledger.runs(),
      [
        { id: 'a-1', runId: 'r', taskId: 'a', kind: 'turn', claimSeq: 4 },
        { id: 'b-1', runId: 'r', taskId: 'b', kind: 'turn', claimSeq: 7 },
      ],
    ]);
    expect(checkDatabase(bench.path, { capsOf: () => ({}), judge: () => [] })).toMatchObject({
      ok: true,
      violations: [],
    });
  });

  test('is none of a file that was never set up, or that cannot be read', () => {
    const empty = join(temporaryFolder(), 'squad.db');
    writeFileSync(empty, '');
    expect(squadError(() => checkDatabase(empty))).toMatchObject({
      code: 'usage',
      message: `${empty}: no run was ever started here.`,
      next: 'Start one: `squad run objective.md`.',
    });
    const link = join(temporaryFolder(), 'squad.db');
    symlinkSync(openBench().path, link);
    expect(squadError(() => checkDatabase(link)).code).toBe('storage-refused');
  });
});
