import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { startProgram } from './programs.ts';
import { temporaryFolder, violations } from './support.ts';

const WRITERS = 32;
const WRITE_MS = 10_000;
/** Far harder than life, where an agent sends a few messages a minute. */
const MOST_PAUSE_MS = 50;
const clock = { now: () => Date.now() };

test('32 processes write for 10 s: no SQLITE_BUSY surfaces, no event is lost, no gap', async () => {
  const directory = join(temporaryFolder(), '.squad');
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  const writers = Array.from({ length: WRITERS }, () =>
    startProgram('writer', [directory, String(WRITE_MS), String(MOST_PAUSE_MS)]),
  );
  await Promise.all(writers.map((writer) => writer.ended()));
  const reports = writers.map((writer) => writer.said.at(-1) as { waits: number[]; failure?: unknown });
  expect(reports.flatMap((report) => report.failure ?? [])).toEqual([]);
  const waits = reports.flatMap((report) => report.waits).sort((a, b) => a - b);
  const ledger = openLedger(directory, { clock, readOnly: true });
  expect(ledger.lastSeq()).toBe(waits.length);
  expect(Math.min(...reports.map((report) => report.waits.length))).toBeGreaterThan(0);
  ledger.close();
  expect(violations(join(directory, 'squad.db'))).toEqual([]);
  const at = (share: number): string => (waits[Math.floor((waits.length - 1) * share)] ?? 0).toFixed(1);
  console.log(`${waits.length} writes; wait p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
  expect(Number(at(1))).toBeLessThan(15_000);
}, 60_000);

test('eight processes that make the ledger together make one', async () => {
  for (let round = 0; round < 3; round += 1) {
    const directory = join(temporaryFolder(), '.squad');
    const makers = Array.from({ length: 8 }, () => startProgram('writer', [directory, '20', '1']));
    await Promise.all(makers.map((maker) => maker.ended()));
    const reports = makers.map((maker) => maker.said.at(-1) as { waits: number[]; failure?: unknown });
    expect(reports.flatMap((report) => report.failure ?? [])).toEqual([]);
    const ledger = openLedger(directory, { clock, readOnly: true });
    expect(ledger.lastSeq()).toBe(reports.reduce((sum, report) => sum + report.waits.length, 0));
    ledger.close();
  }
}, 60_000);
