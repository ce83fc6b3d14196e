import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { ledgerPath, lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Decision, Lease, Ledger, RunLimits } from '../../../src/substrate/ports/ledger.ts';

export class MovedClock {
  time = 1_000_000;

  now(): number {
    return this.time;
  }
}

/** Removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'squad-ledger-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** How many files below this folder are open in this process. */
export function openFilesIn(folder: string): number {
  return readdirSync('/proc/self/fd').filter((name) => {
    try {
      return readlinkSync(join('/proc/self/fd', name)).startsWith(folder);
    } catch {
      // The one that lists them is closed again.
      return false;
    }
  }).length;
}

export interface Bench {
  readonly directory: string;
  readonly path: string;
  readonly clock: MovedClock;
  readonly ledger: Ledger;
  readonly lease: Lease;
  /** Seq of the first input, `run-created`. */
  readonly first: number;
}

/** A workspace with the lock held, one run `r` and its lease. */
export function openBench(): Bench {
  const directory = join(temporaryFolder(), '.squad');
  mkdirSync(directory, { mode: 0o700 });
  const clock = new MovedClock();
  const lock = lockWorkspace(directory, { pid: process.pid, host: 'here', since: 0 });
  const ledger = openLedger(directory, { clock, lock, ballastBytes: 4096 });
  onTestFinished(() => {
    ledger.close();
    lock.release();
  });
  ledger.createRun({ id: 'r', name: 'first' });
  const lease = ledger.acquireLease('r', 'test');
  return { directory, path: ledgerPath(directory), clock, ledger, lease, first: 1 };
}

export function claim(id: string, taskId = 'task', more: { sessionKey?: string; limits?: RunLimits } = {}): Decision {
  const { sessionKey, limits = {} } = more;
  const attempt = { id, taskId, kind: 'turn' as const, agent: 'builder', runtime: 'scripted', request: '{}' };
  return { do: 'claim-attempt', attempt: sessionKey === undefined ? attempt : { ...attempt, sessionKey }, limits };
}

/** Appends an input and applies the decisions to it, as the driver `d<seq>`. */
export function decide(bench: Bench, ...decisions: Decision[]): ReturnType<Ledger['apply']> {
  const seq = bench.ledger.append('r', 'poke', null);
  const cursor = bench.ledger.run('r')?.applied ?? 0;
  return bench.ledger.apply({ lease: bench.lease, cursor, seq, driver: `d${seq}`, decisions });
}

export function result(more: Partial<TurnResult> = {}): TurnResult {
  return { outcome: 'completed', text: 'done', denials: [], stderrTail: '', durationMs: 1, ...more };
}

export function usage(tokens: number, costUsd?: number): NonNullable<TurnResult['usage']> {
  const counted = { inputTokens: tokens, cachedInputTokens: 0, outputTokens: 0 };
  return costUsd === undefined ? counted : { ...counted, costUsd };
}

/** The code of the SquadError that `work` throws. Any other error passes on. */
export function refusal(work: () => unknown): string {
  return squadError(work).code;
}

export function squadError(work: () => unknown): { code: string; message: string; next: string | undefined } {
  try {
    work();
  } catch (error) {
    if (isSquadError(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

export function violations(path: string): string[] {
  return checkHistory(path).map((found) => `${found.rule}: ${found.message}`);
}
