import { copyFileSync, mkdirSync, symlinkSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { checkDatabase, openLedger } from '../../../src/substrate/ledger/index.ts';
import { createRandom } from '../../support/random.ts';
import { canMount, openSmallDisk } from '../../support/small-disk.ts';
import { openBench, squadError, temporaryFolder } from './support.ts';

const clock = { now: () => 5 };
const FRAME = 24 + 4096;

/** A ledger as a kill leaves it: each event is a transaction of its own in the log. */
function killedLedger(events: number): { readonly path: string; readonly log: Buffer; restore(): void } {
  const bench = openBench();
  for (let n = 0; n < events; n += 1) bench.ledger.append('workspace', 'noted', n);
  const path = join(temporaryFolder(), 'squad.db');
  const copy = (): void => {
    rmSync(`${path}-shm`, { force: true });
    for (const end of ['', '-wal']) copyFileSync(bench.path + end, path + end);
  };
  copy();
  writeFileSync(join(path, '..', 'ballast'), 'as beside every ledger');
  const log = readFileSync(`${path}-wal`);
  return { path, log, restore: copy };
}

describe('a write-ahead log', () => {
  it('that is damaged in the middle is said to be, wherever that is; a torn end is none', () => {
    const { path, log, restore } = killedLedger(20);
    const random = createRandom(3);
    expect(checkDatabase(path)).toMatchObject({ ok: true, lastSeq: expect.any(Number) as number });
    for (let trial = 0; trial < 30; trial += 1) {
      const bytes = Buffer.from(log);
      const at = Math.floor(random() * (log.length - 20 * FRAME));
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      restore();
      writeFileSync(`${path}-wal`, bytes);
      const { ok, problems } = checkDatabase(path);
      expect([at, ok, problems.join()]).toEqual([
        at,
        false,
        expect.stringMatching(/log squad\.db-wal|nothing is in it/),
      ]);
    }
    for (const left of [0, 1, 24, 2000, 4095]) {
      restore();
      truncateSync(`${path}-wal`, log.length - FRAME + left);
      expect([left, checkDatabase(path).problems]).toEqual([left, []]);
    }
  });
});

const mountable = canMount();

test.skipIf(!mountable)(
  `a ledger on a full or read-only disk is read all the same, and is not called damaged${mountable ? '' : ' (skipped: no tmpfs can be mounted here)'}`,
  async () => {
    const disk = openSmallDisk(4);
    if (disk === undefined) throw new Error('no disk can be mounted here');
    onTestFinished(() => disk.close());
    const directory = join(disk.root, 'state');
    const ledger = openLedger(directory, { clock, ballastBytes: 4096 });
    ledger.append('workspace', 'noted', 1);
    ledger.close();
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    const read = (): number => {
      const found = openLedger(directory, { clock, readOnly: true });
      const seq = found.lastSeq();
      found.close();
      return seq;
    };
    disk.fill();
    expect([checkDatabase(join(directory, 'squad.db')).ok, read()]).toEqual([true, 1]);
    disk.free();
    for (const end of ['-wal', '-shm']) rmSync(join(directory, `squad.db${end}`), { force: true });
    disk.remount('ro');
    expect([checkDatabase(join(directory, 'squad.db')).ok, read()]).toEqual([true, 1]);
    disk.remount('rw');
  },
);

test('a ledger that cannot be opened is no damaged one: the cause is said', () => {
  const directory = temporaryFolder();
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  const path = join(directory, 'squad.db');
  rmSync(path);
  symlinkSync(path, path);
  expect(squadError(() => checkDatabase(path))).toMatchObject({ code: 'storage-refused', exitCode: 75 });
  rmSync(path);
  mkdirSync(path);
  expect(checkDatabase(path).problems).toEqual([expect.stringContaining('squad.db is not a file')]);
});
