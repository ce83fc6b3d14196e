import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLedger } from '../../../src/cli/check-ledger.ts';
import {
  backUpAfterRun,
  backUpLedger,
  closeDb,
  ledgerPath,
  openDb,
  openLedger,
} from '../../../src/substrate/ledger/index.ts';
import { newestBackup, personsBackup } from '../../../src/substrate/ledger/backup-files.ts';
import { squadError, temporaryFolder } from './support.ts';
import { definition, RecordedRun } from '../../view/report/support.ts';

/** Nobody has it open. */
function storedLedger(): { directory: string; path: string } {
  const run = new RecordedRun(definition()).allocate();
  run.close();
  return { directory: run.directory, path: ledgerPath(run.directory) };
}

const DAY = Date.UTC(2026, 10, 20, 19);

it('keeps the three newest of those that runs left, and all that people made', async () => {
  const { directory, path } = storedLedger();
  const folder = join(directory, 'backups');
  mkdirSync(folder);
  // A crash left it.
  writeFileSync(join(folder, 'run-20261120T180000000Z.db.77.new'), 'half');
  for (const ms of [0, 1, 2_000, 3_000]) {
    await backUpAfterRun(path, DAY + ms);
    if (ms === 1) await backUpLedger(path, personsBackup(path, DAY + 1_000));
  }
  expect(readdirSync(folder).toSorted()).toEqual([
    'run-20261120T190000001Z.db',
    'run-20261120T190002000Z.db',
    'run-20261120T190003000Z.db',
    'squad-20261120T190001Z.db',
  ]);
  expect(checkLedger(path).backups.map((name) => name.replace('backups/', ''))).toEqual([
    'run-20261120T190000001Z.db',
    'squad-20261120T190001Z.db',
    'run-20261120T190002000Z.db',
    'run-20261120T190003000Z.db',
  ]);
  expect(newestBackup(path)).toBe(join(folder, 'run-20261120T190003000Z.db'));
  for (const name of readdirSync(folder)) expect(checkLedger(join(folder, name))).toMatchObject({ ok: true });
});

it.each([1, 1_000, 365 * 24 * 3_600_000])(
  'a copy is the newest also where the clock is set back by %i ms',
  async (back) => {
    const { directory, path } = storedLedger();
    const folder = join(directory, 'backups');
    for (let turn = 0; turn < 6; turn += 1) {
      const before = new Set(existsSync(folder) ? readdirSync(folder) : []);
      if (turn % 2 === 0) await backUpAfterRun(path, DAY - turn * back);
      else await backUpLedger(path, personsBackup(path, DAY - turn * back));
      const made = readdirSync(folder).filter((name) => !before.has(name));
      expect([turn, newestBackup(path)]).toEqual([turn, join(folder, made.join())]);
    }
  },
);

it('is named by what says that the ledger is damaged or gone', async () => {
  const { directory, path } = storedLedger();
  await backUpAfterRun(path, DAY);
  writeFileSync(path, 'no database at all, and longer than a header of one hundred bytes'.repeat(4));
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  const open = () => openLedger(directory, { clock: { now: () => 1 }, readOnly: true });
  const damaged = squadError(open);
  expect(damaged.code).toBe('database-corrupt');
  expect(damaged.next).toContain(join(directory, 'backups', 'run-20261120T190000000Z.db'));
  rmSync(path);
  expect(squadError(open)).toMatchObject({ code: 'database-corrupt', next: damaged.next });
});

it('is never made of a ledger that is damaged, so that none that is sound has to go for it', async () => {
  const { directory, path } = storedLedger();
  for (const ms of [0, 1, 2]) await backUpAfterRun(path, DAY + ms);
  const before = readdirSync(join(directory, 'backups'));
  writeFileSync(path, 'no database at all, and longer than a header of one hundred bytes'.repeat(4));
  await expect(backUpAfterRun(path, DAY + 3)).rejects.toMatchObject({ code: 'database-corrupt' });
  expect(readdirSync(join(directory, 'backups'))).toEqual(before);
});

it('is no reason to think that another file was lost', () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, 'backups'));
  writeFileSync(join(directory, 'backups', 'run-20261120T190000000Z.db'), 'x');
  const path = join(directory, 'checkpoints.db');
  closeDb(openDb(path, { applicationId: 7 }));
  expect(existsSync(path)).toBe(true);
});
