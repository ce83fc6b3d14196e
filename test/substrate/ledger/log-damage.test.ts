import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { checkDatabase, openLedger } from '../../../src/substrate/ledger/index.ts';
import { createRandom } from '../../support/random.ts';
import { canMount, openSmallDisk } from '../../support/small-disk.ts';
import { openBench, squadError, temporaryFolder } from './support.ts';
import { ALL } from '../../support/lane.ts';

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
  it(
    'that has lost all but its first commits leaves a damaged ledger, or a sound one of an earlier moment',
    ALL,
    () => {
      const { path, log, restore } = killedLedger(3);
      const verdicts = new Set<boolean>();
      for (let frames = 0; 32 + frames * FRAME <= log.length; frames += 1) {
        restore();
        truncateSync(`${path}-wal`, 32 + frames * FRAME);
        const { ok, problems } = checkDatabase(path);
        expect([frames, problems.length > 0]).toEqual([frames, !ok]);
        if (!ok) expect(problems.join()).toContain('squad.db-wal');
        verdicts.add(ok);
        for (const readOnly of [true, false]) {
          restore();
          truncateSync(`${path}-wal`, 32 + frames * FRAME);
          const open = (): void => openLedger(dirname(path), { clock, readOnly }).close();
          if (ok) expect(open).not.toThrow();
          else expect(squadError(open).code).toBe('database-corrupt');
        }
      }
      expect([...verdicts]).toEqual([false, true]);
    },
  );

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

test.each(['squad.db', 'squad.db-wal', 'squad.db-shm'])(
  'a link in the place of %s is no damage, and no command opens a ledger through it',
  (name) => {
    const { path } = killedLedger(3);
    const link = join(dirname(path), name);
    writeFileSync(`${path}-shm`, '');
    renameSync(link, `${link}.real`);
    symlinkSync(`${link}.real`, link);
    const refused = {
      code: 'storage-refused',
      exitCode: 75,
      message: expect.stringContaining(`${name} is a symbolic link`) as string,
    };
    expect(squadError(() => checkDatabase(path))).toMatchObject(refused);
    for (const readOnly of [true, false]) {
      expect(squadError(() => openLedger(dirname(path), { clock, readOnly }))).toMatchObject(refused);
    }
  },
);

test('a ledger whose log is damaged is opened by no one, and is never no ledger', () => {
  const { path, log, restore } = killedLedger(20);
  for (const at of [3, 40, 32 + 24 + 100, 32 + FRAME + 30]) {
    const bytes = Buffer.from(log);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    restore();
    writeFileSync(`${path}-wal`, bytes);
    for (const readOnly of [true, false]) {
      expect([at, squadError(() => openLedger(dirname(path), { clock, readOnly })).code]).toEqual([
        at,
        'database-corrupt',
      ]);
    }
    // What an engine might have written over is still there.
    expect(readFileSync(`${path}-wal`).equals(bytes)).toBe(true);
  }
});

test('a ledger that cannot be opened is no damaged one: the cause is said', () => {
  const directory = temporaryFolder();
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  const path = join(directory, 'squad.db');
  rmSync(path);
  mkdirSync(path);
  expect(checkDatabase(path).problems).toEqual([expect.stringContaining('squad.db is not a file')]);
});
