// @module-tag all
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { checkDatabase, openLedger } from '../../../src/substrate/ledger/index.ts';
import { startProgram } from './programs.ts';
import { temporaryFolder, violations } from './support.ts';
import { some, SPREAD, spread } from '../../support/lane.ts';

const KILLS = spread(3, 20);
const clock = { now: () => 5 };

interface Acked {
  acked: number;
  settled?: string;
}

test(
  `a writer that is killed ${KILLS} times loses nothing it was told is written, and leaves no gap`,
  { ...SPREAD, timeout: 240_000 },
  async () => {
    const directory = join(temporaryFolder(), '.squad');
    mkdirSync(directory);
    const acked: Acked[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const writer = startProgram('acked-writer', [directory]);
      await writer.line(1 + ((kill * 37) % 90));
      await writer.kill();
      acked.push(...(writer.said as Acked[]));
    }
    expect(acked.filter((line) => line.acked === undefined)).toEqual([]);
    const path = join(directory, 'squad.db');
    expect(checkDatabase(path)).toMatchObject({ ok: true, problems: [], violations: [] });
    const ledger = openLedger(directory, { clock, readOnly: true });
    expect(ledger.lastSeq()).toBeGreaterThanOrEqual(Math.max(...acked.map((line) => line.acked)));
    const events = new Map(ledger.events({}).map((event) => [event.seq, event.type]));
    for (const { acked: seq, settled } of acked) {
      expect(events.get(seq)).toBe(settled === undefined ? 'poke' : 'attempt-settled');
      if (settled !== undefined) expect(ledger.settlement(settled)?.seq).toBe(seq);
    }
    ledger.close();
    console.log(`${acked.length} acknowledged over ${KILLS} kills`);
  },
);

/** run, lease, apply, settle, append; the first commit is the schema. */
const COMMITS = 6;

test(
  'killed before or after any commit, a retry of the same steps ends in the same ledger',
  { ...SPREAD, timeout: 300_000 },
  async () => {
    const points = ['before', 'after'].flatMap((side) =>
      Array.from({ length: COMMITS }, (_, index) => `ledger.${side}-commit:${index + 1}`),
    );
    const home = temporaryFolder();
    const straight = await finalEvents(join(home, 'straight'), []);
    for (const [index, point] of some(points, 0, 3).entries()) {
      expect(await finalEvents(join(home, `${index}`), [point])).toEqual(straight);
    }
  },
);

/** What the ledger says about the run in the end, without what only tells of the restarts. */
async function finalEvents(folder: string, kills: readonly string[]): Promise<string[]> {
  const directory = join(folder, '.squad');
  mkdirSync(directory, { recursive: true });
  for (const kill of kills) {
    const killed = await startProgram('crasher', [directory, 'run', `${kill}=kill`]).ended();
    expect(killed.signal).toBe('SIGKILL');
  }
  const again = startProgram('crasher', [directory, 'run']);
  expect(await again.line(1)).toBe('finished');
  await again.ended();
  expect(violations(join(directory, 'squad.db'))).toEqual([]);
  const ledger = openLedger(directory, { clock, readOnly: true });
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 1, turnsSettled: 1 });
  const types = ledger.events({ stream: 'r' }).map((event) => event.type);
  ledger.close();
  const once = types.filter((type) => type !== 'lease-acquired' && type !== 'end');
  return [...once, String(types.includes('end'))];
}

test('a write-ahead log that is cut or garbled anywhere leaves a prefix of what was written', async () => {
  const directory = join(temporaryFolder(), '.squad');
  const writer = startProgram('writer', [directory, '600000', '0']);
  await writer.line(1);
  const path = join(directory, 'squad.db');
  while ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) < 600_000) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
  await writer.kill();
  const [main, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
  const counts: number[] = [];
  for (let cut = 0; cut <= 120; cut += 1) {
    const offset = cut % 2 === 0 ? Math.round((log.length * cut) / 120) : Math.min(log.length, 32 + cut * 4120);
    counts.push(eventsOf(main, cutLog(log, offset, cut % 3 === 0)));
  }
  expect(Math.max(...counts)).toBeGreaterThan(Math.min(...counts));
});

function cutLog(log: Buffer, offset: number, garble: boolean): Buffer {
  if (!garble) return log.subarray(0, offset);
  return Buffer.concat([log.subarray(0, offset), Buffer.alloc(log.length - offset, 0xa5)]);
}

/** Number of events, after proof that they are whole and without gap. */
function eventsOf(main: Buffer, log: Buffer): number {
  const folder = temporaryFolder();
  const path = join(folder, 'squad.db');
  writeFileSync(path, main);
  writeFileSync(`${path}-wal`, log);
  copyFileSync(path, `${path}.kept`);
  const db = new Database(path);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  const tables = Number(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'event'").pluck().get());
  const rows =
    tables === 0
      ? []
      : (db.prepare('SELECT seq, data FROM event ORDER BY seq').all() as { seq: number; data: string }[]);
  db.close();
  rows.forEach((row, index) => {
    expect(row.seq).toBe(index + 1);
    expect(JSON.parse(row.data)).toHaveProperty('number', index);
  });
  return rows.length;
}
