// @module-tag all
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import { allowedMs } from '../../support/busy-machine.ts';
import { writeStorm } from '../../support/write-storm.ts';
import { startProgram } from './programs.ts';
import { temporaryFolder, violations } from './support.ts';
import { ALL } from '../../support/lane.ts';

const WRITE_MS = 6_000;
const MEGABYTE = 1024 * 1024;
const clock = { now: () => Date.now() };

test(
  'T8 32 writers, a long reader and a lock held for 4 s: no SQLITE_BUSY surfaces, no event is lost, no gap',
  { ...ALL, timeout: 300_000 },
  async () => {
    const directory = join(temporaryFolder(), '.squad');
    const { writes, failures, p99, longest, logBytes } = await writeStorm(directory, WRITE_MS);
    const log = (logBytes / MEGABYTE).toFixed(1);
    console.log(`${writes} writes; p99 ${p99.toFixed(1)} ms, longest ${longest.toFixed(0)} ms, log ${log} MB`);
    expect(failures).toEqual([]);
    const ledger = openLedger(directory, { clock, readOnly: true });
    expect(ledger.lastSeq()).toBe(writes);
    ledger.close();
    expect(violations(join(directory, 'squad.db'))).toEqual([]);
    expect(writes).toBeGreaterThan(32);
    expect(logBytes).toBeLessThan(64 * MEGABYTE);
    // The lock alone keeps them for 4 s; the chaos lane judges p99 where nothing else runs.
    expect(longest).toBeGreaterThan(3_000);
    expect(longest).toBeLessThan(allowedMs(5_000));
  },
);

test('eight processes that make the ledger together make one', async () => {
  for (let round = 0; round < 2; round += 1) {
    const directory = join(temporaryFolder(), '.squad');
    const makers = Array.from({ length: 8 }, () => startProgram('writer', [directory, '20', '1']));
    await Promise.all(makers.map((maker) => maker.ended()));
    const reports = makers.map((maker) => maker.said.at(-1) as { waits: number[]; failure?: unknown });
    expect(reports.flatMap((report) => report.failure ?? [])).toEqual([]);
    const ledger = openLedger(directory, { clock, readOnly: true });
    expect(ledger.lastSeq()).toBe(reports.reduce((sum, report) => sum + report.waits.length, 0));
    ledger.close();
  }
});
