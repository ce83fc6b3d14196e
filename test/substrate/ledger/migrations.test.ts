import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { MIGRATIONS } from '../../../src/substrate/ledger/migrations.ts';
import { teachRowDigest } from '../../../src/substrate/ledger/row-digest.ts';
import { startProgram } from './programs.ts';
import { squadError, temporaryFolder } from './support.ts';
import { some, SPREAD } from '../../support/lane.ts';

const clock = { now: () => 5 };
/** The newest schema; the crasher knows two more. */
const NOW = MIGRATIONS.length;

function oldLedger(): { directory: string; path: string } {
  const directory = join(temporaryFolder(), '.squad');
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  ledger.append('workspace', 'noted', 'kept');
  ledger.close();
  return { directory, path: join(directory, 'squad.db') };
}

function stateOf(path: string): { version: number; tables: number; events: number; integrity: string } {
  const db = new Database(path, { readonly: true });
  const count = (sql: string): number => Number(db.prepare(sql).pluck().get());
  const state = {
    version: Number(db.pragma('user_version', { simple: true })),
    tables: count("SELECT count(*) FROM sqlite_schema WHERE name IN ('second', 'third')"),
    events: count('SELECT count(*) FROM event'),
    integrity: String(db.pragma('integrity_check', { simple: true })),
  };
  db.close();
  return state;
}

test('a migration keeps the data and leaves a backup of the schema before', async () => {
  const { directory, path } = oldLedger();
  expect(await startProgram('crasher', [directory, 'migrate']).line(1)).toBe('finished');
  expect(stateOf(path)).toEqual({ version: NOW + 2, tables: 2, events: 1, integrity: 'ok' });
  const backup = join(directory, `squad.db.backup-v${NOW}`);
  expect(stateOf(backup)).toEqual({ version: NOW, tables: 0, events: 1, integrity: 'ok' });
  expect(statSync(backup).mode & 0o077).toBe(0);
  expect(squadError(() => openLedger(directory, { clock })).code).toBe('schema-newer');
});

test.each(
  some(
    [
      ['migration.after-backup', 0],
      ['migration.before-step', 0],
      ['ledger.before-commit', 0],
      ['ledger.after-commit', 1],
      ['migration.after-step', 1],
      ['migration.before-step:2', 1],
      ['ledger.before-commit:2', 1],
      ['migration.after-step:2', 2],
    ] as const,
    4,
  ),
)('T19 killed at %s the schema is %i steps on, whole, and the next start finishes', SPREAD, async (point, steps) => {
  const { directory, path } = oldLedger();
  const killed = startProgram('crasher', [directory, 'migrate', `${point}=kill`]);
  expect(await killed.ended()).toMatchObject({ signal: 'SIGKILL' });
  expect(stateOf(path)).toEqual({ version: NOW + steps, tables: steps, events: 1, integrity: 'ok' });
  expect(existsSync(join(directory, `squad.db.backup-v${NOW}`))).toBe(true);
  expect(await startProgram('crasher', [directory, 'migrate']).line(1)).toBe('finished');
  expect(stateOf(path)).toEqual({ version: NOW + 2, tables: 2, events: 1, integrity: 'ok' });
  expect(readdirSync(directory).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('killed while a new ledger is made, the next start makes it', async () => {
  const directory = join(temporaryFolder(), '.squad');
  await startProgram('crasher', [directory, 'migrate', 'ledger.before-commit=kill']).ended();
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
});

test('a file with data is not migrated under a living engine, and a reader never migrates', async () => {
  const { directory, path } = oldLedger();
  const migrations = [...MIGRATIONS, () => {}];
  const options = { clock, ballastBytes: 4096, migrations };
  expect(squadError(() => openLedger(directory, { ...options, readOnly: true })).code).toBe('storage-refused');
  const lock = lockWorkspace(directory, { pid: process.pid, host: 'here', since: 0 });
  expect(squadError(() => openLedger(directory, options)).code).toBe('workspace-busy');
  expect(await startProgram('crasher', [directory, 'migrate']).line(1)).toMatchObject({ code: 'workspace-busy' });
  expect(stateOf(path).version).toBe(NOW);
  openLedger(directory, { ...options, lock }).close();
  expect(stateOf(path).version).toBe(NOW + 1);
  lock.release();
});

test('the acceptances and voided messages of a ledger of schema 3 are in the trace after its migration', () => {
  const directory = join(temporaryFolder(), '.squad');
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  const path = join(directory, 'squad.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, '../../fixtures/old-ledger/squad.db.gz'))));
  const old = new Database(path);
  teachRowDigest(old);
  // The first delivery is accepted, and the second is void.
  old.exec(`INSERT INTO mail_trace (n, batch, mail_seq, recipient, what, ts, note)
    SELECT n + 2, n + 2, mail_seq, recipient, iif(n = 1, 'accepted', 'void'), 7, '' FROM mail_trace WHERE n <= 2 ORDER BY n`);
  const lines = old
    .prepare<[], { id: string; recipient: string; what: string }>(
      'SELECT mail.id, recipient, what FROM mail_trace JOIN mail ON mail.seq = mail_seq ORDER BY n',
    )
    .all()
    .map(({ id, recipient, what }) => `${what} ${id} ${recipient}`);
  old.close();
  expect(new Set(lines.map((line) => line.split(' ')[0]))).toEqual(new Set(['delivered', 'accepted', 'void']));
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  const traced = [...ledger.mail.trace({})].flatMap((entry) => {
    if (entry.event === 'message' || entry.event === 'presence') return [];
    return [`${entry.event === 'ack' ? entry.ack : entry.event} ${entry.id} ${entry.agent}`];
  });
  ledger.close();
  // A void message was delivered to no one, whatever the version before wrote down.
  const isVoid = (line: string): boolean => lines.includes(line.replace('delivered', 'void'));
  const told = lines.filter((line) => !line.startsWith('delivered ') || !isVoid(line));
  expect(told.length).toBe(lines.length - 1);
  expect(traced.toSorted()).toEqual(told.toSorted());
});
