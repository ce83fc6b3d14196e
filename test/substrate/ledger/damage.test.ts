import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { checkLedger } from '../../../src/cli/check-ledger.ts';
import { exportLedger, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { damageFile, DAMAGES, type Damage } from '../../support/damage.ts';
import { createRandom } from '../../support/random.ts';
import { storedLedger } from '../../support/stored-ledger.ts';
import { squadError } from './support.ts';

/** Of each kind. */
const TRIALS = Number(process.env['SQUAD_DAMAGE_TRIALS'] ?? 12);
const clock = { now: () => 5 };
const holder = { pid: process.pid, host: 'here', since: 0 };

function driveOnce(directory: string): void {
  const lock = lockWorkspace(directory, holder);
  try {
    openLedger(directory, { clock, lock, ballastBytes: 4096 }).close();
  } finally {
    lock.release();
  }
}

test.each(Object.keys(DAMAGES) as Damage[])(
  'T6 %s in squad.db: no engine starts on it, or not one fact in it has changed',
  (damage) => {
    const { directory, path } = storedLedger();
    driveOnce(directory);
    const before = [...exportLedger(path, null)].join('');
    const seed = Number(process.env['SQUAD_CHAOS_SEED'] ?? 7);
    const random = createRandom(seed);
    let refused = 0;
    for (let trial = 0; trial < TRIALS; trial += 1) {
      const whole = damageFile(path, damage, random);
      const harmless = isHarmless(path, before);
      try {
        driveOnce(directory);
        expect(harmless, `trial ${trial} of seed ${seed}`).toBe(true);
      } catch (error) {
        const { code, message, next } = squadError(() => {
          throw error;
        });
        expect([code, next]).toEqual(['database-corrupt', expect.stringContaining('`squad db check`')]);
        expect(message).toContain(path);
        expect(checkLedger(path).ok).toBe(false);
        refused += 1;
      }
      for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
      writeFileSync(path, whole);
    }
    console.log(`${damage}: ${refused} of ${TRIALS} refused, the rest harmless`);
    if (damage !== 'a flipped bit') expect(refused).toBeGreaterThan(0);
  },
);

/** Pages of which SQLite's own check says nothing. */
test.each([
  ['mail_delivery', 'timer_by_due'],
  ['mail', 'sqlite_autoindex_operator_command_1'],
  ['run', 'attempt_live_by_session'],
])('T6 the page of %s in the place of %s: no engine starts, and `db check` tells', (from, to) => {
  const { directory, path } = storedLedger();
  driveOnce(directory);
  const [source, target] = [rootOf(path, from), rootOf(path, to)];
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.copyWithin(target, source, source + 4096));
  const bare = new Database(path, { readonly: true });
  expect(bare.pragma('integrity_check(1)', { simple: true })).toBe('ok');
  bare.close();
  expect(squadError(() => driveOnce(directory))).toMatchObject({ code: 'database-corrupt', exitCode: 65 });
  expect(checkLedger(path)).toMatchObject({ ok: false, problems: [expect.stringMatching(/damaged|does not have/)] });
});

test('T6 what SQLite itself says of a damaged page is the same error wherever it comes up, after the start too', () => {
  const { directory, path } = storedLedger();
  driveOnce(directory);
  const target = rootOf(path, 'timer_by_due');
  const source = rootOf(path, 'mail_delivery');
  const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
  const [run] = ledger.runs();
  expect(ledger.dueTimers(1)).toEqual([]);
  writeFileSync(path, readFileSync(path).copyWithin(target, source, source + 4096));
  // What another process wrote makes this one read again.
  const other = openLedger(directory, { clock, ballastBytes: 4096 });
  other.command(run?.id ?? '', 'pause', {}, 'me');
  other.close();
  expect(squadError(() => ledger.dueTimers(1))).toMatchObject({ code: 'database-corrupt', exitCode: 65 });
  ledger.close();
});

/** Where the first page of a table or index begins. */
function rootOf(path: string, name: string): number {
  const db = new Database(path, { readonly: true });
  const sql = 'SELECT rootpage AS page FROM sqlite_schema WHERE name = ?';
  const page = db.prepare<[string], { page: number }>(sql).get(name)?.page ?? 0;
  db.close();
  return (page - 1) * 4096;
}

function isHarmless(path: string, before: string): boolean {
  try {
    return [...exportLedger(path, null)].join('') === before;
  } catch {
    return false;
  }
}
