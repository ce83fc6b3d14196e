import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ledgerPath, openLedger } from '../../src/substrate/ledger/index.ts';
import { openLedgerFile } from '../../src/substrate/ledger/ledger-file.ts';
import { closeDb } from '../../src/substrate/ledger/open-db.ts';
import { startProgram } from '../substrate/ledger/programs.ts';

const WRITERS = 32;
/** Five writes a second each, on average. */
const MOST_PAUSE_MS = 400;
const HELD_MS = 4_000;
const READ_MS = 10_000;
const BETWEEN_READS_MS = 1_000;
const clock = { now: () => Date.now() };

export interface Storm {
  readonly writes: number;
  /** Surfaced to a writer. */
  readonly failures: readonly unknown[];
  /** Of writes that did not meet the lock that was held: ms that 99 % of them took at most. */
  readonly p99: number;
  /** Of all. */
  readonly longest: number;
  /** As it was at its largest. */
  readonly logBytes: number;
}

/**
 * 32 processes write for so many ms while one reader keeps a snapshot for 10 s at a time, and somebody
 * who is not squad holds the write lock for 4 s. `directory`: of a workspace that is not there yet.
 */
export async function writeStorm(directory: string, writeMs: number): Promise<Storm> {
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  const path = ledgerPath(directory);
  const over = new AbortController();
  const reading = readLong(path, over.signal);
  const writers = Array.from({ length: WRITERS }, () =>
    startProgram('writer', [directory, String(writeMs), String(MOST_PAUSE_MS)]),
  );
  try {
    await Promise.all(writers.map(async (writer) => writer.line(1)));
    await sleep(500);
    const held = await holdWriteLock(path);
    await Promise.all(writers.map(async (writer) => writer.ended()));
    const logBytes = statSync(`${path}-wal`).size;
    over.abort();
    await reading;
    return {
      ...reportOf(
        writers.map(({ said }) => said.at(-1) as Report),
        held,
      ),
      logBytes,
    };
  } finally {
    over.abort();
    for (const writer of writers) await writer.kill();
  }
}

/** One snapshot after the other, as of somebody who exports again and again: the log cannot begin anew under one. */
async function readLong(path: string, over: AbortSignal): Promise<void> {
  const reader = openLedgerFile(path, { readOnly: true });
  const count = (): unknown => reader.prepare('SELECT count(*) AS count FROM event').get();
  const wait = async (ms: number): Promise<unknown> => sleep(ms, undefined, { signal: over }).catch(() => undefined);
  try {
    while (!over.aborted) {
      reader.exec('BEGIN');
      const before = JSON.stringify(count());
      await wait(READ_MS);
      const after = JSON.stringify(count());
      reader.exec('COMMIT');
      if (after !== before) throw new Error(`a reader saw what came after its start: ${before}, then ${after}`);
      await wait(BETWEEN_READS_MS);
    }
  } finally {
    closeDb(reader);
  }
}

interface Report {
  readonly waits: readonly number[];
  readonly at: readonly number[];
  readonly failure?: unknown;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

async function holdWriteLock(path: string): Promise<Span> {
  const other = openLedgerFile(path, { readOnly: false });
  try {
    other.exec('BEGIN IMMEDIATE');
    const from = Date.now();
    await sleep(HELD_MS);
    other.exec('ROLLBACK');
    return { from, to: Date.now() };
  } finally {
    closeDb(other);
  }
}

function reportOf(reports: readonly Report[], held: Span): Omit<Storm, 'logBytes'> {
  const writes = reports.flatMap(({ waits, at }) => waits.map((ms, index) => ({ ms, at: at[index] ?? 0 })));
  // Those who waited for the lock go all at once when it is free.
  const free = writes.filter(({ ms, at }) => at + ms < held.from || at > held.to + 1_000).map(({ ms }) => ms);
  return {
    writes: writes.length,
    failures: reports.flatMap(({ failure }) => failure ?? []),
    p99: free.toSorted((a, b) => a - b)[Math.floor((free.length - 1) * 0.99)] ?? 0,
    longest: Math.max(...writes.map(({ ms }) => ms)),
  };
}
