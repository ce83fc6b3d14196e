import { rmSync, writeFileSync } from 'node:fs';
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

function isHarmless(path: string, before: string): boolean {
  try {
    return [...exportLedger(path, null)].join('') === before;
  } catch {
    return false;
  }
}
