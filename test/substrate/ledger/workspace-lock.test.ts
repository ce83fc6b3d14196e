import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { lockWorkspace, openLedger, readLockHolder } from '../../../src/substrate/ledger/index.ts';
import { holderHere, holderName, probeLock, refuseBusy } from '../../../src/substrate/ledger/workspace-lock.ts';
import { localTime } from '../../../src/text/time.ts';
import { DAMAGES, damageFile, type Damage } from '../../support/damage.ts';
import { ALL, some, SPREAD } from '../../support/lane.ts';
import { createRandom } from '../../support/random.ts';
import { startProgram } from './programs.ts';
import { openFilesIn, refusal, squadError, temporaryFolder } from './support.ts';

const HOLDER = { pid: process.pid, host: 'here', since: 1_700_000_000_000 };
const clock = { now: () => 5 };

test('one lock a workspace, with the name of its holder for people', () => {
  const directory = temporaryFolder();
  const lock = lockWorkspace(directory, HOLDER);
  expect(JSON.parse(readFileSync(join(directory, 'lock.json'), 'utf8'))).toEqual(HOLDER);
  expect(statSync(join(directory, 'lock.json')).mode & 0o077).toBe(0);
  const error = squadError(() => lockWorkspace(directory, HOLDER));
  expect(error.code).toBe('workspace-busy');
  expect(error.message).toContain(`PID ${process.pid} on here`);
  expect(lock.isHeld()).toBe(true);
  lock.release();
  lock.release();
  expect(lock.isHeld()).toBe(false);
  expect(existsSync(join(directory, 'lock.json'))).toBe(false);
  const again = lockWorkspace(directory, HOLDER);
  expect([lock.isHeld(), again.isHeld()]).toEqual([false, true]);
  lock.release();
  expect(again.isHeld()).toBe(true);
  again.release();
});

test('another path to the same folder is the same workspace', () => {
  const directory = temporaryFolder();
  const lock = lockWorkspace(directory, HOLDER);
  expect(refusal(() => lockWorkspace(join(directory, '..', directory.split('/').at(-1) ?? ''), HOLDER))).toBe(
    'workspace-busy',
  );
  lock.release();
});

/** The journal of the transaction that makes a database: SQLite goes back to a file of no pages. */
function journalOfNew(): Buffer {
  const journal = Buffer.alloc(512);
  journal.set([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
  // No record, a nonce, no pages before, sectors, bytes of a page.
  [0, 7, 0, 512, 4096].forEach((value, index) => journal.writeUInt32BE(value, 8 + 4 * index));
  return journal;
}

test('a lock file that a power cut left half made has no holder, and the next one makes it anew', () => {
  const directory = temporaryFolder();
  lockWorkspace(directory, HOLDER).release();
  writeFileSync(join(directory, 'lock.db-journal'), journalOfNew());
  expect(probeLock(directory)).toBeNull();
  expect(() => refuseBusy(directory)).not.toThrow();
  const lock = lockWorkspace(directory, HOLDER);
  expect([lock.isHeld(), existsSync(join(directory, 'lock.db-journal'))]).toEqual([true, false]);
  lock.release();
});

test('no lease without the lock of this very workspace, still held', () => {
  const directory = temporaryFolder();
  const elsewhere = temporaryFolder();
  const other = lockWorkspace(elsewhere, HOLDER);
  const lock = lockWorkspace(directory, HOLDER);
  const options = { clock, ballastBytes: 4096 };
  const without = openLedger(directory, options);
  const wrong = openLedger(directory, { ...options, lock: other });
  const right = openLedger(directory, { ...options, lock });
  right.createRun({ id: 'r', name: 'r' });
  expect(refusal(() => without.acquireLease('r', 'x'))).toBe('workspace-busy');
  expect(refusal(() => wrong.acquireLease('r', 'x'))).toBe('workspace-busy');
  expect(right.acquireLease('r', 'x').epoch).toBe(1);
  expect(right.acquireLease('r', 'y').epoch).toBe(2);
  lock.release();
  expect(refusal(() => right.acquireLease('r', 'z'))).toBe('workspace-busy');
  for (const ledger of [without, wrong, right]) ledger.close();
  other.release();
});

test('a holder whose name cannot be written holds all the same, and under no other name', () => {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'lock.json'), JSON.stringify({ ...HOLDER, pid: 1 }));
  mkdirSync(join(directory, 'lock.json.new'));
  const lock = lockWorkspace(directory, HOLDER);
  expect(lock.isHeld()).toBe(true);
  expect(readLockHolder(directory)).toBeUndefined();
  lock.release();
  lockWorkspace(directory, HOLDER).release();
});

test('a holder whose name is unreadable still holds', () => {
  expect(readLockHolder(temporaryFolder())).toBeUndefined();
});

test('a holder is named by its process and its machine', () => {
  expect(holderHere(7, 5)).toEqual({ pid: 7, host: hostname(), since: 5 });
  expect(holderName(7)).toBe(`pid 7 on ${hostname()}`);
});

test.each([
  ['no file', undefined, undefined],
  ['no JSON', '{', undefined],
  ['another shape', '{"pid":1}', undefined],
  ['a part of a number', '{"pid":1.5,"host":"h","since":2}', undefined],
  ['a part of a time', '{"pid":1,"host":"h","since":2.5}', undefined],
  ['a name', '{"pid":1,"host":"h","since":2}', { pid: 1, host: 'h', since: 2 }],
])('the name of a holder in %s', (_, text, holder) => {
  const directory = temporaryFolder();
  if (text !== undefined) writeFileSync(join(directory, 'lock.json'), text);
  expect(readLockHolder(directory)).toEqual(holder);
});

test('a lock that this process has is refused to it with its own name, and seen without a look at the file', () => {
  const directory = temporaryFolder();
  expect(probeLock(directory)).toBeNull();
  const lock = lockWorkspace(directory, HOLDER);
  rmSync(join(directory, 'lock.json'));
  expect(probeLock(directory)).toEqual(HOLDER);
  const { code, message, next } = squadError(() => lockWorkspace(directory, HOLDER));
  expect([code, next]).toEqual(['workspace-busy', 'Watch it with `squad watch` or end it with `squad stop`.']);
  const since = localTime(HOLDER.since, Date.now());
  expect(message).toBe(`Another squad (PID ${process.pid} on here, since ${since}) is running in ${directory}`);
  expect(lock.directory).toBe(directory);
  expect(lock.holder).toBe(HOLDER);
  lock.release();
  expect(probeLock(directory)).toBeNull();
});

test('a file that another program reads is busy, and nothing of it stays open', () => {
  const directory = temporaryFolder();
  lockWorkspace(directory, HOLDER).release();
  const other = new Database(join(directory, 'lock.db'), { readonly: true });
  other.exec('BEGIN; SELECT * FROM sqlite_schema');
  const before = openFilesIn(directory);
  const error = squadError(() => lockWorkspace(directory, HOLDER));
  expect([error.code, error.message]).toEqual(['workspace-busy', `Another squad is running in ${directory}`]);
  other.exec('COMMIT');
  expect(() => lockWorkspace(directory, HOLDER).release()).not.toThrow();
  expect(openFilesIn(directory)).toBe(before);
  other.close();
});

test('a lock is given up again where the name of a former holder cannot go', () => {
  const directory = temporaryFolder();
  const before = openFilesIn(directory);
  const folders = ['lock.json', `lock.json.${process.pid}.damaged`].map((name) => join(directory, name));
  for (const folder of folders) mkdirSync(join(folder, 'full'), { recursive: true });
  expect(squadError(() => lockWorkspace(directory, HOLDER)).code).toBe('storage-refused');
  expect(openFilesIn(directory)).toBe(before);
  expect(probeLock(directory)).toBeNull();
  for (const folder of folders) rmSync(folder, { recursive: true });
  const lock = lockWorkspace(directory, HOLDER);
  expect(lock.isHeld()).toBe(true);
  // Its own name cannot go either, which does not keep the lock.
  rmSync(join(directory, 'lock.json'));
  mkdirSync(join(directory, 'lock.json'));
  lock.release();
  expect([lock.isHeld(), openFilesIn(directory)]).toEqual([false, before]);
});

test('a folder in which no file can be made is an error of the disk', () => {
  expect(squadError(() => lockWorkspace('/proc/self/fdinfo', HOLDER)).code).toBe('storage-refused');
});

test('an early look refuses for another process that has said its name, and changes nothing', ALL, async () => {
  const directory = temporaryFolder();
  refuseBusy(join(directory, 'nowhere'));
  refuseBusy(directory);
  expect(existsSync(join(directory, 'lock.db'))).toBe(false);
  const lock = lockWorkspace(directory, HOLDER);
  refuseBusy(directory);
  expect(lock.isHeld()).toBe(true);
  const ledger = openLedger(directory, { clock, lock, ballastBytes: 4096 });
  ledger.createRun({ id: 'r', name: 'r' });
  ledger.close();
  lock.release();
  const other = startProgram('locker', [directory]);
  expect(await other.line(1)).toMatchObject({ held: true });
  const error = squadError(() => refuseBusy(directory));
  const holder = readLockHolder(directory);
  expect(holder?.pid).toBe(other.child.pid);
  expect(probeLock(directory)).toEqual({ since: holder?.since });
  const since = localTime(holder?.since ?? 0, Date.now());
  const name = `PID ${String(other.child.pid)} on ${holder?.host ?? ''}, since ${since}`;
  const refused = { code: 'workspace-busy', message: `Another squad (${name}) is running in ${directory}` };
  expect(error).toMatchObject(refused);
  const before = openFilesIn(directory);
  expect(squadError(() => lockWorkspace(directory, HOLDER))).toMatchObject(refused);
  rmSync(join(directory, 'lock.json'));
  refuseBusy(directory);
  expect(probeLock(directory)).toEqual({ since: 0 });
  expect(squadError(() => lockWorkspace(directory, HOLDER)).message).toBe(`Another squad is running in ${directory}`);
  expect(openFilesIn(directory)).toBe(before);
  await other.kill();
  refuseBusy(directory);
  lockWorkspace(directory, HOLDER).release();
});

const HARMS: Readonly<Record<string, (path: string) => unknown>> = {
  ...Object.fromEntries(
    (Object.keys(DAMAGES) as Damage[]).map((damage) => [
      damage,
      (path: string) => damageFile(path, damage, createRandom(damage.length)),
    ]),
  ),
  'another text': (path) =>
    writeFileSync(path, 'no database at all, but longer than a header of one would be. '.repeat(9)),
};

test.each([
  ...Object.entries(HARMS),
  ['a folder in its place', (path: string) => (rmSync(path), mkdirSync(join(path, 'x'), { recursive: true }))] as const,
  ['a named pipe in its place', (path: string) => (rmSync(path), execFileSync('mkfifo', [path]))] as const,
  ['a named pipe as its journal', (path: string) => execFileSync('mkfifo', [`${path}-journal`])] as const,
])('a lock file holds nothing: with %s it locks as before', (_, harm) => {
  const directory = temporaryFolder();
  lockWorkspace(directory, HOLDER).release();
  harm(join(directory, 'lock.db'));
  expect(probeLock(directory)).toBeNull();
  const lock = lockWorkspace(directory, HOLDER);
  expect(lock.isHeld()).toBe(true);
  expect(refusal(() => lockWorkspace(directory, HOLDER))).toBe('workspace-busy');
  lock.release();
  lockWorkspace(directory, HOLDER).release();
});

test('so it does with any bit of its header flipped', SPREAD, () => {
  const directory = temporaryFolder();
  lockWorkspace(directory, HOLDER).release();
  const path = join(directory, 'lock.db');
  const whole = readFileSync(path);
  const bits = some(
    Array.from({ length: 800 }, (_, bit) => bit),
    90,
  );
  for (const bit of bits) {
    const bytes = Buffer.from(whole);
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(path, bytes);
    expect(probeLock(directory), `bit ${bit}`).toBeNull();
    lockWorkspace(directory, HOLDER).release();
  }
});

test.each<[string, (path: string) => void]>([
  ['a folder in the place of its name', (path) => mkdirSync(join(path, 'lock.json/full'), { recursive: true })],
  ['a link to nothing in its place', (path) => symlinkSync(join(path, 'nowhere'), join(path, 'lock.db'))],
  ['a link to itself', (path) => symlinkSync(join(path, 'lock.db'), join(path, 'lock.db'))],
])('the lock is taken with %s', (_, harm) => {
  const directory = temporaryFolder();
  harm(directory);
  expect(probeLock(directory)).toBeNull();
  const lock = lockWorkspace(directory, HOLDER);
  expect(readLockHolder(directory)).toEqual(HOLDER);
  lock.release();
  expect(existsSync(join(directory, 'lock.json'))).toBe(false);
});

test('a lock file that is damaged under its holder still locks, and is sound after it', ALL, async () => {
  const directory = temporaryFolder();
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  ledger.createRun({ id: 'r', name: 'r' });
  ledger.close();
  const other = startProgram('locker', [directory]);
  expect(await other.line(1)).toMatchObject({ held: true });
  for (const harm of Object.values(HARMS)) {
    harm(join(directory, 'lock.db'));
    expect(probeLock(directory)).not.toBeNull();
    expect(refusal(() => lockWorkspace(directory, HOLDER))).toBe('workspace-busy');
    writeFileSync(join(directory, 'lock.db'), 'x'.repeat(8192));
  }
  await other.kill();
  lockWorkspace(directory, HOLDER).release();
});
