import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  checkDatabase,
  closeDb,
  openDb,
  openLedger,
  type Db,
  lockWorkspace,
} from '../../../src/substrate/ledger/index.ts';
import { SCHEMA } from '../../../src/substrate/ledger/schema.ts';
import { databaseError } from '../../../src/substrate/ledger/sqlite-errors.ts';
import { startProgram } from './programs.ts';
import { openBench, squadError, temporaryFolder } from './support.ts';
import { ALL } from '../../support/lane.ts';

const ID = 0x1234;
const LEDGER_ID = 0x53514c47;
const clock = { now: () => 5 };

function open(path: string, more: { readOnly?: boolean; schema?: number } = {}): Db {
  const db = openDb(path, { applicationId: ID, ...more });
  onTestFinished(() => closeDb(db));
  return db;
}

/** A closed ledger with some events: its path. */
function madeLedger(): string {
  const directory = join(temporaryFolder(), '.squad');
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  for (let number = 0; number < 50; number += 1) ledger.append('workspace', 'noted', 'x'.repeat(500));
  ledger.close();
  return join(directory, 'squad.db');
}

function reopen(path: string): void {
  openLedger(dirname(path), { clock, ballastBytes: 4096 }).close();
}

function refusedOpening(path: string): string {
  const error = squadError(() => reopen(path));
  expect(error.message).toContain(path);
  expect(error.next).toBeTruthy();
  return error.code;
}

test('a handle is durable, private and waits', () => {
  const path = join(temporaryFolder(), 'a.db');
  const db = open(path);
  const pragma = (name: string): unknown => db.pragma(name, { simple: true });
  expect([pragma('journal_mode'), pragma('synchronous'), pragma('foreign_keys')]).toEqual(['wal', 2, 1]);
  // In KiB, below zero: an engine must not grow by 16 MB for each of its files.
  expect(pragma('cache_size')).toBe(-4_096);
  expect(pragma('busy_timeout')).toBeGreaterThanOrEqual(5000);
  expect(pragma('application_id')).toBe(ID);
  db.exec('CREATE TABLE t (a)');
  for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0);
});

test('what can be made again elsewhere may be less durable', () => {
  const db = openDb(join(temporaryFolder(), 'a.db'), { applicationId: ID, durable: 'normal' });
  expect(db.pragma('synchronous', { simple: true })).toBe(1);
  closeDb(db);
});

test('the folder of a ledger is private and invisible to git', () => {
  const path = madeLedger();
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(dirname(path), '.gitignore'), 'utf8')).toBe('*\n');
  chmodSync(dirname(path), 0o755);
  chmodSync(path, 0o644);
  reopen(path);
  expect([statSync(dirname(path)).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
});

test('the same SQL text is one statement, and every transaction is immediate', () => {
  const path = join(temporaryFolder(), 'a.db');
  const db = open(path);
  expect(db.prepare('SELECT 1')).toBe(db.prepare('SELECT 1'));
  const other = new Database(path, { timeout: 0 });
  db.transaction(() => {
    expect(() => other.exec('BEGIN IMMEDIATE')).toThrow('locked');
  })();
  other.close();
});

test("LangGraph's saver works on such a handle", async () => {
  const db = open(join(temporaryFolder(), 'checkpoints.db'));
  const saver = new SqliteSaver(db);
  const config = { configurable: { thread_id: 't', checkpoint_ns: '' } };
  const checkpoint = { v: 4, ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} };
  for (const id of ['1', '2', '3']) {
    await saver.put(config, { ...checkpoint, id }, { source: 'loop', step: 1, parents: {} });
    await saver.putWrites({ configurable: { ...config.configurable, checkpoint_id: id } }, [['c', 1]], 'task');
  }
  expect((await saver.getTuple(config))?.checkpoint.id).toBe('3');
});

test('to open a file a second time does not drop the locks of the first', ALL, async () => {
  const directory = join(temporaryFolder(), '.squad');
  const first = openLedger(directory, { clock, ballastBytes: 4096 });
  const path = join(directory, 'squad.db');
  const db = openDb(path, { applicationId: LEDGER_ID });
  db.exec('BEGIN IMMEDIATE');
  openDb(path, { applicationId: LEDGER_ID, readOnly: true });
  const writer = startProgram('writer', [directory, '1', '0']);
  await vi.waitFor(() => expect(writer.said).toEqual(['ready']), 10_000);
  await new Promise((resolve) => {
    setTimeout(resolve, 300);
  });
  expect(writer.said).toEqual(['ready']);
  db.exec('ROLLBACK');
  await writer.ended();
  expect(writer.said.at(-1)).toHaveProperty('waits');
  expect(first.lastSeq()).toBeGreaterThan(0);
  closeDb(db);
  first.close();
});

test.each([
  ['text', (path: string) => writeFileSync(path, 'this is no database, but it is longer than its header'.repeat(9))],
  ['a few bytes', (path: string) => writeFileSync(path, 'SQL')],
  ['a database cut short', (path: string) => truncateSync(path, 8192)],
  ['an emptied database', (path: string) => truncateSync(path, 0)],
  ['a missing database', (path: string) => rmSync(path)],
  ['zeroes', (path: string) => writeFileSync(path, Buffer.alloc(8192))],
])('%s where a ledger was is damage, never a fresh start', (_, damage) => {
  const path = madeLedger();
  damage(path);
  const before = existsSync(path) ? readFileSync(path) : undefined;
  expect(refusedOpening(path)).toBe('database-corrupt');
  expect(existsSync(path) ? readFileSync(path) : undefined).toEqual(before);
});

test.each([
  ['an empty file', (path: string) => writeFileSync(path, '')],
  ['a file in WAL mode', (path: string) => new Database(path).pragma('journal_mode = wal')],
  [
    'a file with our mark',
    (path: string) => {
      const db = new Database(path);
      db.pragma('journal_mode = wal');
      db.pragma(`application_id = ${LEDGER_ID}`);
      db.close();
    },
  ],
])('%s, as a killed maker leaves it, is nothing to read yet, and the next engine makes it', (_, leave) => {
  const directory = join(temporaryFolder(), '.squad');
  mkdirSync(directory);
  leave(join(directory, 'squad.db'));
  expect(squadError(() => openLedger(directory, { clock, readOnly: true })).code).toBe('usage');
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  expect(ledger.append('workspace', 'x', null)).toBe(1);
  ledger.close();
});

test.each(['squad.db-wal', 'backups/run-20261120T190000000Z.db'])('an empty file beside %s is damage too', (trace) => {
  const path = madeLedger();
  rmSync(join(dirname(path), 'ballast'));
  truncateSync(path, 0);
  mkdirSync(join(dirname(path), 'backups'), { recursive: true });
  writeFileSync(join(dirname(path), trace), 'frames');
  expect(refusedOpening(path)).toBe('database-corrupt');
});

test('an empty file with no trace of data is the start of a ledger', () => {
  const path = join(temporaryFolder(), 'squad.db');
  writeFileSync(path, '');
  reopen(path);
  expect(statSync(path).size).toBeGreaterThan(0);
});

test("another program's database is refused untouched", () => {
  const path = join(temporaryFolder(), 'squad.db');
  const other = new Database(path);
  other.exec('CREATE TABLE theirs (a)');
  other.close();
  const before = readFileSync(path);
  expect(refusedOpening(path)).toBe('database-corrupt');
  expect(readFileSync(path)).toEqual(before);
});

test.each([
  [99, 'schema-newer', /^Update with `git pull && npm ci && npm run build` in \//],
  [SCHEMA - 1, 'schema-older', /^Keep the folder under another name, and start again: `mv /],
])('schema %i is refused with exit code 78 and %s, and the file is not touched', (version, code, next) => {
  const path = madeLedger();
  const other = new Database(path);
  other.pragma(`user_version = ${version}`);
  other.close();
  const before = readFileSync(path);
  const changed = statSync(path).mtimeMs;
  const message = expect.stringContaining(`schema ${version}; this one knows ${SCHEMA}`) as string;
  const refused = { code, message, next: expect.stringMatching(next) as string, exitCode: 78 };
  expect(squadError(() => reopen(path))).toMatchObject(refused);
  expect(squadError(() => openLedger(dirname(path), { clock: { now: () => 5 }, readOnly: true }))).toMatchObject(
    refused,
  );
  expect(squadError(() => checkDatabase(path))).toMatchObject(refused);
  expect(readFileSync(path)).toEqual(before);
  expect(statSync(path).mtimeMs).toBe(changed);
  expect(existsSync(`${path}-wal`)).toBe(false);
});

test('T19 killed while a new ledger is made, the next start makes it', ALL, async () => {
  const directory = join(temporaryFolder(), '.squad');
  await startProgram('crasher', [directory, 'make', 'ledger.before-commit=kill']).ended();
  expect(squadError(() => checkDatabase(join(directory, 'squad.db'))).code).toBe('usage');
  openLedger(directory, { clock: { now: () => 5 }, ballastBytes: 4096 }).close();
  expect(checkDatabase(join(directory, 'squad.db'))).toMatchObject({ ok: true, schemaVersion: SCHEMA });
});

test('zeroed pages are found when a driver opens', () => {
  const { path, ledger, directory } = openBench();
  for (let number = 0; number < 200; number += 1) ledger.append('workspace', 'noted', 'x'.repeat(900));
  const copy = join(temporaryFolder(), '.squad');
  mkdirSync(copy);
  const other = new Database(path, { readonly: true });
  other.prepare('VACUUM INTO ?').run(join(copy, 'squad.db'));
  other.close();
  expect(directory).not.toBe(copy);
  const bytes = readFileSync(join(copy, 'squad.db'));
  writeFileSync(join(copy, 'squad.db'), bytes.fill(0, bytes.length - 3 * 4096));
  const lock = lockWorkspace(copy, { pid: process.pid, host: 'here', since: 0 });
  expect(squadError(() => openLedger(copy, { clock, ballastBytes: 4096, lock })).code).toBe('database-corrupt');
  lock.release();
});

test('a missing folder and a missing ledger say so', () => {
  const missing = join(temporaryFolder(), 'no', 'such', '.squad');
  expect(squadError(() => openLedger(missing, { clock })).code).toBe('storage-refused');
  expect(squadError(() => openDb(join(missing, 'a.db'), { applicationId: ID })).code).toBe('storage-refused');
  expect(squadError(() => openLedger(temporaryFolder(), { clock, readOnly: true })).code).toBe('usage');
});

test('a reader reads and cannot write', () => {
  const path = madeLedger();
  const reader = openLedger(dirname(path), { clock, readOnly: true });
  expect(reader.events({ limit: 2 })).toHaveLength(2);
  expect(squadError(() => reader.append('workspace', 'noted', 1)).code).toBe('storage-refused');
  reader.close();
});

test('a copy of a closed ledger is a ledger', () => {
  const path = madeLedger();
  const copy = join(temporaryFolder(), 'squad.db');
  copyFileSync(path, copy);
  reopen(copy);
});

test.each([
  ['SQLITE_CORRUPT_INDEX', 'database-corrupt'],
  ['SQLITE_NOTADB', 'database-corrupt'],
  ['SQLITE_FULL', 'storage-full'],
  ['ENOSPC', 'storage-full'],
  ['SQLITE_BUSY_SNAPSHOT', 'workspace-busy'],
  ['SQLITE_READONLY_DBMOVED', 'storage-refused'],
  ['SQLITE_IOERR_FSYNC', 'storage-refused'],
  ['SQLITE_CANTOPEN', 'storage-refused'],
  ['EROFS', 'storage-refused'],
])('%s reaches a person as %s', (code, expected) => {
  const raw = Object.assign(new Error('raw'), { code });
  expect(databaseError('/x/squad.db', raw)).toMatchObject({ code: expected, cause: raw });
});

test('what is not about the database stays what it was', () => {
  const bug = new TypeError('bug');
  expect(databaseError('/x/squad.db', bug)).toBe(bug);
  const constraint = Object.assign(new Error('unique'), { code: 'SQLITE_CONSTRAINT_UNIQUE' });
  expect(databaseError('/x/squad.db', constraint)).toBe(constraint);
});
